// Times as the input writes them: numbers, or what a clock on the wall shows.
export function formatter({ first, wall }) {
  if (!wall) return (time) => String(Math.round(time));
  const [begin, unit] = wall;
  return (time) => new Date(begin + (time - first) * unit).toISOString().slice(0, 19).replace("T", " ");
}
