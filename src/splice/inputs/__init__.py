"""What a name means: folders, files, data sets, domains and theories."""
