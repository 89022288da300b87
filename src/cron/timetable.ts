/**
 * When a job is due: wall-clock schedules, moments, intervals. Slots are instants in milliseconds.
 *
 * Invariants:
 *   C1  `next` is pure, grows, and never gives an instant that is not after the one it was asked with.
 *   C2  Nights of the change. A schedule that names hours fires once for each local time that fits it: for a time that
 *       clocks leave out at the first moment after the gap, for a time that they show twice the first time. A schedule for
 *       every hour follows the clock: it fires whenever clocks show a fitting time, so that its distances stay.
 *   C3  An interval is reckoned from its anchor, never from the last firing: it does not drift.
 */
import { Calendar } from './calendar.ts';
import { Zone } from './zone.ts';

export type Timing =
  | { readonly kind: 'schedule'; readonly expression: string; readonly tz: string }
  | { readonly kind: 'at'; readonly at: number }
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchor: number };

export interface Timetable {
  /** The first slot after this instant; null when there is none. */
  readonly next: (after: number) => number | null;
}

/** Throws `cron/expression` and `cron/zone`. */
export function timetableOf(timing: Timing, zones: Zones): Timetable {
  if (timing.kind === 'at') return { next: (after) => (timing.at > after ? timing.at : null) };
  if (timing.kind === 'every') {
    const { everyMs, anchor } = timing;
    return {
      next: (after) => anchor + Math.max(1, Math.floor((after - anchor) / everyMs) + 1) * everyMs,
    };
  }
  return wallTimetable(new Calendar(timing.expression), zones.named(timing.tz));
}

/** Zones by name, so that ten thousand jobs of one zone look its rules up once. */
export class Zones {
  readonly #known: Map<string, Zone> = new Map();

  named(name: string): Zone {
    let zone = this.#known.get(name);
    if (zone === undefined) {
      zone = new Zone(name);
      this.#known.set(name, zone);
    }
    return zone;
  }
}

/** Bounds of what is looked for; instants, both inside. */
export function within(
  timetable: Timetable,
  { start, end }: { readonly start: number | null; readonly end: number | null },
): Timetable {
  return {
    next: (after) => {
      const slot = timetable.next(start === null ? after : Math.max(after, start - 1));
      return slot === null || (end !== null && slot > end) ? null : slot;
    },
  };
}

function wallTimetable(calendar: Calendar, zone: Zone): Timetable {
  return {
    next: (after) =>
      calendar.everyHour
        ? followClock(calendar, zone, after)
        : onceALocalTime(calendar, zone, after),
  };
}

/** Stretch by stretch: within one, clocks just go. */
function followClock(calendar: Calendar, zone: Zone, after: number): number | null {
  let at = after;
  for (;;) {
    const { to, offsetMs } = zone.stretchAt(at + 1);
    const wall = calendar.nextWall(at + offsetMs);
    if (wall === null) return null;
    if (wall - offsetMs < to) return wall - offsetMs;
    at = to - 1;
  }
}

function onceALocalTime(calendar: Calendar, zone: Zone, after: number): number | null {
  let wall = calendar.nextWall(latestShown(zone, after));
  while (wall !== null) {
    const instant = zone.instantOf(wall);
    if (instant > after) return instant;
    wall = calendar.nextWall(wall);
  }
  return null;
}

/** The latest local time that clocks have shown by this instant, also when they were set back since. */
function latestShown(zone: Zone, at: number): number {
  const { from, offsetMs } = zone.stretchAt(at);
  const before = zone.offsetAt(from - 1);
  return Math.max(at + offsetMs, from + before - 1);
}
