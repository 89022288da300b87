/**
 * A time zone by its IANA name: which offset it has when, from the zone data of the platform (`Intl`). Offsets are looked
 * up a year at a time and kept, so that asking for one is arithmetic.
 *
 * Nothing of it is recorded: when the platform gets newer zone data, the next term reckons with them.
 */
import { badZone } from './errors.ts';
import { ZONE_YEARS_MAX } from './limits.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A stretch of time with one offset: `from` is inside, `to` is not. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly offsetMs: number;
}

export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years: Map<number, readonly Stretch[]> = new Map();

  /** Throws `cron/zone` (exit 2) for what is no IANA name. */
  constructor(name: string) {
    this.name = checkedName(name);
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: this.name,
      timeZoneName: 'longOffset',
    });
  }

  /** What local clocks are ahead of UTC at this instant. */
  offsetAt(at: number): number {
    return this.stretchAt(at).offsetMs;
  }

  /** The stretch around an instant, at most the UTC year that it lies in. */
  stretchAt(at: number): Stretch {
    const stretches = this.#ofYear(new Date(at).getUTCFullYear());
    let low = 0;
    let high = stretches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((stretches[middle]?.from ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    const found = stretches[low];
    if (found === undefined) throw badZone(this.name, 'Its rules can not be read.');
    return found;
  }

  /**
   * The first instant at which local clocks show `wall` (milliseconds as if it were UTC). For a time that they leave out:
   * the first moment after the gap.
   */
  instantOf(wall: number): number {
    // No zone is more than a day from UTC, so one of these two offsets is in force when clocks show it.
    const before = this.offsetAt(wall - DAY_MS);
    const after = this.offsetAt(wall + DAY_MS);
    const early = wall - Math.max(before, after);
    const late = wall - Math.min(before, after);
    if (this.offsetAt(early) === wall - early) return early;
    if (this.offsetAt(late) === wall - late) return late;
    return this.#change(early, late);
  }

  #ofYear(year: number): readonly Stretch[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    const found = this.#lookUp(Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
    if (this.#years.size >= ZONE_YEARS_MAX) this.#years.clear();
    this.#years.set(year, found);
    return found;
  }

  #lookUp(start: number, end: number): Stretch[] {
    const stretches: Stretch[] = [];
    let from = start;
    let offsetMs = this.#read(start);
    for (let at = start; at < end; at += DAY_MS) {
      const next = Math.min(at + DAY_MS, end - 1);
      const there = this.#read(next);
      if (there === offsetMs) continue;
      const to = this.#change(at, next);
      stretches.push({ from, to, offsetMs });
      from = to;
      offsetMs = there;
    }
    stretches.push({ from, to: end, offsetMs });
    return stretches;
  }

  /** The first instant after `early` with the offset of `late`. */
  #change(early: number, late: number): number {
    const wanted = this.#read(late);
    let [low, high] = [early, late];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#read(middle) === wanted) high = middle;
      else low = middle;
    }
    return high;
  }

  /** `12/1/2026, GMT+05:30`; some old offsets have seconds. */
  #read(at: number): number {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#format.format(at));
    const [, sign, hours, minutes, seconds] = match ?? [];
    if (sign === undefined) return 0;
    const ms = Number(hours) * HOUR_MS + Number(minutes) * 60_000 + Number(seconds ?? 0) * 1_000;
    return sign === '-' ? -ms : ms;
  }
}

const HINT =
  'Name it as the IANA does, by a place: Europe/Berlin, America/New_York, Asia/Kolkata; or UTC.';

/** Abbreviations and offsets are refused: they know no summer time, or mean several places. */
function checkedName(name: string): string {
  if (/^utc$|^gmt$/i.test(name)) return 'UTC';
  if (!name.includes('/') || /^[+-]/.test(name)) throw badZone(name, HINT);
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions();
    // Its case as the IANA has it; another name for the same zone stays what the person wrote.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name;
  } catch {
    throw badZone(name, nearZone(name));
  }
}

function nearZone(name: string): string {
  const place = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const near = Intl.supportedValuesOf('timeZone').filter((zone) =>
    zone.toLowerCase().endsWith(`/${place}`),
  );
  return near.length === 0 ? HINT : `Did you mean ${near.slice(0, 3).join(' or ')}?`;
}
