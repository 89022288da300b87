import { expect, test } from 'vitest';
import { timetableOf, Zones } from '../../../src/cron/index.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { EXPRESSIONS, ZONES } from '../../support/cron-cases.ts';
import { oracleOf } from '../../support/cron-oracle.ts';

const DAY_MS = 86_400_000;
const FROM = Date.UTC(2017, 0, 1);
const TO = Date.UTC(2027, 0, 1);
const zones = new Zones();

/** Where the offset of a zone changes, found without the code under test. */
function changes(tz: string): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: tz, timeZoneName: 'longOffset' });
  const read = (at: number): string => format.format(at).replace(/^.*GMT/, '');
  const found: number[] = [];
  for (let at = FROM; at < TO; at += DAY_MS) if (read(at) !== read(at + DAY_MS)) found.push(at);
  return found;
}

function firings(expression: string, tz: string, from: number, to: number): number[] {
  const timetable = timetableOf({ kind: 'schedule', expression, tz }, zones);
  const found: number[] = [];
  for (let at = timetable.next(from - 1); at !== null && at < to; at = timetable.next(at)) {
    found.push(at);
  }
  return found;
}

const random = new SeededRandom(Number(process.env['TROUPE_SEED'] ?? Date.now() % 100_000));
/** CI looks at the last changes of each zone and at a random day; the whole is `npm run cron:oracle`. */
const WHOLE = process.env['TROUPE_CRON_WHOLE'] === '1';

function slicesOf(tz: string): (readonly [number, number])[] {
  const slices: (readonly [number, number])[] = [];
  if (WHOLE) {
    for (let at = FROM; at < TO; at += 30 * DAY_MS) slices.push([at, at + 30 * DAY_MS]);
    return slices;
  }
  for (const at of changes(tz).slice(-2)) slices.push([at - DAY_MS, at + 2 * DAY_MS]);
  const day = FROM + Math.floor(random.next() * 3_650) * DAY_MS;
  return [...slices, [day, day + 2 * DAY_MS]];
}

test.for(ZONES)('C2 fires as the oracle says: %s', (tz) => {
  for (const [from, to] of slicesOf(tz)) {
    const oracle = oracleOf(tz, from, to);
    for (const expression of EXPRESSIONS) {
      const expected = oracle(expression);
      const where = `${expression} ${tz} from ${new Date(from).toISOString()}`;
      expect(firings(expression, tz, from, to), where).toEqual(expected);
    }
  }
});
