/** Moments as people write them: ISO-8601, and without an offset as clocks of the zone show it. */
import { badMoment } from './errors.ts';
import type { Zone } from './zone.ts';

const FORM =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** Milliseconds. Throws `cron/moment` (exit 2), naming it as `shown`, for what is none: 30 February is none. */
export function momentOf(shown: string, text: string, zone: Zone): number {
  const at = parse(text, zone);
  if (at === null) throw badMoment(shown, text);
  return at;
}

function parse(text: string, zone: Zone): number | null {
  const [, day, time = '00:00', second = '00', fraction = '0', offset] = FORM.exec(text) ?? [];
  if (day === undefined) return null;
  const plain = `${day}T${time}:${second}.${fraction.padEnd(3, '0')}Z`;
  const wall = Date.parse(plain);
  // Date reads 30 February as 2 March.
  if (Number.isNaN(wall) || new Date(wall).toISOString() !== plain) return null;
  if (offset === undefined) return zone.instantOf(wall);
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const ahead = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? wall + ahead : wall - ahead;
}

/** What clocks of the zone show, with its offset: `2026-03-29T03:00:00+02:00`. */
export function localTime(at: number, zone: Zone): string {
  const offset = zone.offsetAt(at);
  const minutes = Math.floor(Math.abs(offset) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const shown = new Date(at + offset).toISOString().slice(0, 19);
  return `${shown}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
