import { expect, test } from 'vitest';
import { timetableOf, within, Zones } from '../../../src/cron/index.ts';

const zones = new Zones();

function slots(expression: string, tz: string, from: string, count: number): string[] {
  const timetable = timetableOf({ kind: 'schedule', expression, tz }, zones);
  const found: string[] = [];
  let at = timetable.next(Date.parse(from));
  while (at !== null && found.length < count) {
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
    at = timetable.next(at);
  }
  return found;
}

test.for([
  ['', 'it is empty'],
  ['* * * *', 'it has 4 fields, not 5 or 6'],
  ['* * * * * * *', 'it has 7 fields, not 5 or 6'],
  ['0 0 31 2 *', 'its day-of-month never comes in its month'],
  ['0 0 31 4,6,9,11 *', 'its day-of-month never comes in its month'],
  ['0 0 30 feb *', 'its day-of-month never comes in its month'],
  ['60 * * * *', 'got value 60 expected range 0-59'],
  ['0 24 * * *', 'got value 24 expected range 0-23'],
  ['0 0 0 * *', 'got value 0 expected range 1-31'],
  ['*/61 * * * *', 'a step of 61 in its minute is longer than the field'],
  ['*/0 * * * *', 'cannot repeat at every 0 time'],
  ['H * * * *', 'H (a hashed value) in its minute is not supported'],
  ['0 0 15W * *', 'W (the nearest working day) is not supported'],
  ['0 0 LW * *', 'W (the nearest working day) is not supported'],
  ['0 0 L-2 * *', 'expected range 1-31'],
  ['0 0 * * 1#6', 'invalid dayOfWeek occurrence number'],
  ['0 0 * * 8', 'expected range 0-7'],
  ['10-5 * * * *', 'min(10) > max(5)'],
  ['@every 5m', 'there is no @every'],
  ['@reboot', 'there is no @reboot'],
  ['a b c d e', 'Invalid characters'],
] as const)('refused with the reason: %s', ([expression, why]) => {
  const make = () => timetableOf({ kind: 'schedule', expression, tz: 'UTC' }, zones);
  expect(make).toThrow(expect.objectContaining({ code: 'cron/expression', exit: 2 }));
  expect(make).toThrow(why);
});

test.for(['CEST', 'EST', '+02:00', 'UTC+2', 'Europe/Berln', 'berlin', ''])(
  'a zone is named as the IANA does: %s is refused',
  (tz) => {
    const make = () => timetableOf({ kind: 'schedule', expression: '@daily', tz }, zones);
    expect(make).toThrow(expect.objectContaining({ code: 'cron/zone', exit: 2 }));
  },
);

test.for([
  ['30 7 * * 1-5', ['2026-01-01T07:30Z', '2026-01-02T07:30Z', '2026-01-05T07:30Z']],
  ['30 7 * * MON-fri', ['2026-01-01T07:30Z', '2026-01-02T07:30Z', '2026-01-05T07:30Z']],
  ['0 0 13 * 5', ['2026-01-02T00:00Z', '2026-01-09T00:00Z', '2026-01-13T00:00Z']],
  ['0 0 13 * ?', ['2026-01-13T00:00Z', '2026-02-13T00:00Z', '2026-03-13T00:00Z']],
  ['0 0 L * *', ['2026-01-31T00:00Z', '2026-02-28T00:00Z', '2026-03-31T00:00Z']],
  ['0 0 * * 5L', ['2026-01-30T00:00Z', '2026-02-27T00:00Z', '2026-03-27T00:00Z']],
  ['0 0 * * mon#2', ['2026-01-12T00:00Z', '2026-02-09T00:00Z', '2026-03-09T00:00Z']],
  ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z', '2036-02-29T00:00Z']],
  ['0 0 * 2 1#5', ['2044-02-29T00:00Z', '2072-02-29T00:00Z']],
  ['0 0 * * sat-sun', ['2026-01-03T00:00Z', '2026-01-04T00:00Z', '2026-01-10T00:00Z']],
  ['0 0 * * 7', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
  ['0 0 1 jan,JUL *', ['2026-07-01T00:00Z', '2027-01-01T00:00Z']],
  ['5/20 3 * * *', ['2026-01-01T03:05Z', '2026-01-01T03:25Z', '2026-01-01T03:45Z']],
  ['1-10/4 3 * * *', ['2026-01-01T03:01Z', '2026-01-01T03:05Z', '2026-01-01T03:09Z']],
  [
    '*/20 30 9 * * *',
    ['2026-01-01T09:30Z', '2026-01-01T09:30:20.000Z', '2026-01-01T09:30:40.000Z'],
  ],
  ['@hourly', ['2026-01-01T01:00Z', '2026-01-01T02:00Z']],
  ['@Daily', ['2026-01-02T00:00Z', '2026-01-03T00:00Z']],
  ['@midnight', ['2026-01-02T00:00Z']],
  ['@weekly', ['2026-01-04T00:00Z', '2026-01-11T00:00Z']],
  ['@monthly', ['2026-02-01T00:00Z', '2026-03-01T00:00Z']],
  ['@yearly', ['2027-01-01T00:00Z', '2028-01-01T00:00Z']],
] as const)('%s', ([expression, expected]) => {
  expect(slots(expression, 'UTC', '2026-01-01T00:00:00Z', expected.length)).toEqual(expected);
});

test.for([
  // Berlin leaves out 02:00-03:00 on 29 March 2026 and shows it twice on 25 October.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:30Z']],
  [
    '*/10 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00Z',
    ['2026-03-29T01:00Z', '2026-03-30T00:00Z'],
  ],
  ['0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:00Z']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
  [
    '0 * * * *',
    'Europe/Berlin',
    '2026-10-24T23:30Z',
    ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'],
  ],
  // Lord Howe's clocks move by half an hour.
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T00:00Z',
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  ],
  [
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T00:00Z',
    ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
  ],
  // Samoa had no 30 December 2011, and São Paulo no midnight on days of the change.
  [
    '0 12 * * *',
    'Pacific/Apia',
    '2011-12-29T12:00Z',
    ['2011-12-29T22:00Z', '2011-12-30T10:00Z', '2011-12-30T22:00Z'],
  ],
  ['@daily', 'America/Sao_Paulo', '2018-11-03T12:00Z', ['2018-11-04T03:00Z', '2018-11-05T02:00Z']],
] as const)('C2 %s in %s', ([expression, tz, from, expected]) => {
  expect(slots(expression, tz, from, expected.length)).toEqual(expected);
});

test('C3 an interval is reckoned from its anchor, whatever the clocks do', () => {
  const anchor = Date.parse('2026-03-29T00:17:03Z');
  const { next } = timetableOf({ kind: 'every', everyMs: 5_400_000, anchor }, zones);
  expect(next(anchor - 1e9)).toBe(anchor + 5_400_000);
  expect(next(anchor)).toBe(anchor + 5_400_000);
  expect(next(anchor + 5_400_000 * 1_000 + 17)).toBe(anchor + 5_400_000 * 1_001);
});

test('a moment comes once, and bounds are inside', () => {
  const { next } = timetableOf({ kind: 'at', at: 1_000 }, zones);
  expect([next(999), next(1_000)]).toEqual([1_000, null]);
  const every = timetableOf({ kind: 'every', everyMs: 1_000, anchor: 0 }, zones);
  const bounded = within(every, { start: 5_000, end: 6_000 });
  expect([bounded.next(0), bounded.next(5_000), bounded.next(6_000)]).toEqual([5_000, 6_000, null]);
});
