/** Deny and ask rules against text that could not be read. */
import { ROUGH_MAX } from './limits.ts';
import type { Rule } from './rule.ts';

/** A name of a rule as a word of text that was too long to be read. Of very long text, its beginning and its end. */
export function mentioned(
  whole: string,
  byName: ReadonlyMap<string, readonly Rule[]>,
): Rule | null {
  const half = ROUGH_MAX / 2;
  const text = whole.length > ROUGH_MAX ? `${whole.slice(0, half)}\n${whole.slice(-half)}` : whole;
  // One pass for all rules: a name whose first run of letters is no word of the text is not in it.
  const words = new Set(text.match(/\w+/g));
  for (const [name, rules] of byName) {
    const [first] = /\w+/.exec(name) ?? [];
    if (first !== undefined && !words.has(first)) continue;
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
      const word = /\w/;
      if (!word.test(text[at - 1] ?? ' ') && !word.test(text[at + name.length] ?? ' '))
        return rules[0] ?? null;
    }
  }
  return null;
}
