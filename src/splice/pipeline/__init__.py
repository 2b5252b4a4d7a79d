"""The run: Algorithm 4, passes over a stream, checkpoints and shards, without the command."""
