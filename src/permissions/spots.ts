/** All files that a call uses, at each place where they may lie, as far as there is work left for them (P13). */
import type { DecisionContext } from './decision.ts';
import type { Facts } from './facts.ts';
import { type Spot, spotsOf } from './file-uses.ts';
import { NAMES_MAX, STEPS_A_WORD } from './limits.ts';

export function allSpots(facts: Facts, context: DecisionContext): Spot[] {
  const spots: Spot[] = [];
  let names = 0;
  for (const use of facts.reading.uses) {
    const from = spots.length;
    // Each folder it may be in is a path of its own, and a `cd` makes them longer.
    let chars = 0;
    for (const folder of use.folders.all) chars += folder.length + use.path.text.length;
    if (!facts.reading.spend(chars)) break;
    spotsOf(use, context, spots);
    const before = names;
    for (let at = from; at < spots.length; at += 1) names += 1 + (spots[at]?.names.length ?? 0);
    const added = names - before;
    if (names > NAMES_MAX) facts.reading.cut('it uses too many files to look at each');
    if (names > NAMES_MAX || !facts.reading.spend(added * STEPS_A_WORD)) break;
  }
  return spots;
}
