/** Globs over types of events: `*` stands for any characters (`task.*`, `*.failed`, `*`). */

/** Linear in the length of the text for each star, whatever the pattern. */
export function matchesTopic(glob: string, type: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let starT = 0;
  while (t < type.length) {
    if (glob[g] === '*') {
      star = g;
      starT = t;
      g += 1;
    } else if (g < glob.length && glob[g] === type[t]) {
      g += 1;
      t += 1;
    } else if (star >= 0) {
      starT += 1;
      t = starT;
      g = star + 1;
    } else {
      return false;
    }
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}

/** No glob at all means every type. */
export function matchesAny(globs: readonly string[], type: string): boolean {
  return globs.length === 0 || globs.some((glob) => matchesTopic(glob, type));
}
