/** When a schedule is due: pure, needs no repository and no supervisor. */
import { localTime, momentOf, timetableOf, Zones } from '../cron/index.ts';
import { isoTime } from '../kernel/index.ts';
import type { CronMoment } from '../protocol/cron.ts';

export interface NextWish {
  readonly expression: string;
  /** IANA name. */
  readonly tz: string;
  /** A moment as a person writes it; left out: now. */
  readonly from?: string | undefined;
  readonly count: number;
}

/** The first `count` slots after `from`; fewer when there are no more. */
export function nextSlots(wish: NextWish, now: number): readonly CronMoment[] {
  const zones = new Zones();
  const { expression, tz } = wish;
  const timetable = timetableOf({ kind: 'schedule', expression, tz }, zones);
  const zone = zones.named(tz);
  const from = wish.from === undefined ? now : momentOf('--from', wish.from, zone);
  const slots: CronMoment[] = [];
  let at = timetable.next(from);
  while (at !== null && slots.length < wish.count) {
    slots.push({ at: isoTime(at), local: localTime(at, zone), inMs: at - now });
    at = timetable.next(at);
  }
  return slots;
}

/** Where this machine is. */
export function localZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone.includes('/') ? timeZone : 'UTC';
}
