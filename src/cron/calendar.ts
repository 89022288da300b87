/**
 * A cron expression as a calendar of local times. cron-parser reads the expression and decides which days fit; here stand
 * its rules of form, and what it lets through that is no sensible schedule.
 *
 * Local times are milliseconds as if local clocks showed UTC; what becomes of them in a zone is `timetable.ts`.
 */
import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { ensureError } from '../kernel/index.ts';
import { badExpression } from './errors.ts';
import { SEARCH_YEARS_MAX } from './limits.ts';

const DAY_MS = 86_400_000;

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@minutely': '* * * * *',
  '@secondly': '* * * * * *',
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
};

const FORM =
  'Five fields: minute hour day-of-month month day-of-week, with a field of seconds before them if you like; or @daily and its kin. For example "30 7 * * mon-fri".';

export class Calendar {
  readonly text: string;
  /** It names no hours: it follows the clock through the nights of the change, instead of firing once for each local time. */
  readonly everyHour: boolean;
  readonly #days: CronExpression;
  readonly #times: DayTimes;

  /** Throws `cron/expression` (exit 2) with the reason. */
  constructor(text: string) {
    this.text = text.trim();
    const fields = fieldsOf(this.text);
    const [, , , dom = '*', month = '*', dow = '*'] = fields;
    const whole = parse(this.text, fields.join(' '));
    // The days alone, each by its first moment: times within a day are a product of what the fields hold.
    this.#days = parse(this.text, `0 0 0 ${dom} ${month} ${dow}`);
    const { second, minute, hour } = whole.fields;
    this.#times = new DayTimes(hour.values, minute.values, second.values);
    this.everyHour = hour.values.length === 24;
    if (this.nextWall(Date.UTC(2024, 0, 1) - 1) === null) {
      throw badExpression(this.text, 'no day ever fits it', 'See `troupe cron next EXPR`.');
    }
  }

  /** The first fitting local time after `wall`; null when there is none for decades. */
  nextWall(wall: number): number | null {
    const day = Math.floor(wall / DAY_MS) * DAY_MS;
    // From just before the day, so that the day itself may be the answer.
    let fitting = this.#nextDay(day - 1);
    if (fitting === day) {
      const time = this.#times.after(wall - day);
      if (time !== null) return day + time;
      fitting = this.#nextDay(day);
    }
    return fitting === null ? null : fitting + this.#times.first;
  }

  /** The first fitting day that begins after `wall`. The last answer is kept: times of one day ask for the same. */
  #nextDay(wall: number): number | null {
    const { from, day } = this.#lastAnswer;
    if (wall >= from && (day === null || wall < day)) return day;
    const limit = wall + SEARCH_YEARS_MAX * 366 * DAY_MS;
    let found: number | null;
    try {
      this.#days.reset(new Date(wall));
      found = this.#days.next().getTime();
      if (found > limit) found = null;
    } catch {
      found = null;
    }
    this.#lastAnswer = { from: wall, day: found };
    return found;
  }

  #lastAnswer: { from: number; day: number | null } = { from: Number.POSITIVE_INFINITY, day: null };
}

/** Times of a day, in milliseconds from its beginning: every hour with every minute with every second. */
class DayTimes {
  readonly first: number;
  readonly #hours: readonly number[];
  readonly #minutes: readonly number[];
  readonly #seconds: readonly number[];

  constructor(hours: readonly number[], minutes: readonly number[], seconds: readonly number[]) {
    this.#hours = hours;
    this.#minutes = minutes;
    this.#seconds = seconds;
    this.first = timeOf(hours[0], minutes[0], seconds[0]);
  }

  /** The first one after `time`; null when the day has no more. */
  after(time: number): number | null {
    const whole = Math.floor(time / 1_000);
    const [h, m, s] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
    const second = this.#seconds.find((value) => value > s);
    if (second !== undefined && this.#hours.includes(h) && this.#minutes.includes(m)) {
      return timeOf(h, m, second);
    }
    const minute = this.#minutes.find((value) => value > m);
    if (minute !== undefined && this.#hours.includes(h)) return timeOf(h, minute, this.#seconds[0]);
    const hour = this.#hours.find((value) => value > h);
    return hour === undefined ? null : timeOf(hour, this.#minutes[0], this.#seconds[0]);
  }
}

function timeOf(hour = 0, minute = 0, second = 0): number {
  return (hour * 3_600 + minute * 60 + second) * 1_000;
}

/** Six fields in plain form. Refuses what cron-parser would read as something that nobody meant. */
function fieldsOf(text: string): string[] {
  if (text === '') throw badExpression(text, 'it is empty', FORM);
  const plain = text.startsWith('@') ? named(text) : text;
  const fields = plain.split(/\s+/);
  if (fields.length < 5 || fields.length > 6) {
    const count = fields.length === 1 ? '1 field' : `${fields.length} fields`;
    throw badExpression(text, `it has ${count}, not 5 or 6`, FORM);
  }
  if (fields.length === 5) fields.unshift('0');
  for (const [index, field] of fields.entries()) refuseOdd(text, field, index);
  // A week goes on from Saturday to Sunday.
  return [...fields.slice(0, 5), (fields[5] ?? '*').replace(/-sun\b/gi, '-7')];
}

function named(text: string): string {
  const known = NAMED[text.toLowerCase()];
  if (known !== undefined) return known;
  const why = `there is no ${text.split(/\s/)[0]}`;
  if (/^@every\b/i.test(text)) {
    throw badExpression(text, why, 'An interval is a kind of its own: --every 15m.');
  }
  throw badExpression(text, why, `There is ${Object.keys(NAMED).join(' ')}.`);
}

const FIELDS = ['second', 'minute', 'hour', 'day-of-month', 'month', 'day-of-week'];
const SIZES = [60, 60, 24, 31, 12, 7];

function refuseOdd(text: string, field: string, index: number): void {
  const name = FIELDS[index] ?? '';
  if (/(^|[,(/-])H/.test(field)) {
    const hint = 'Spread jobs with --jitter, which is shown with each slot.';
    throw badExpression(text, `H (a hashed value) in its ${name} is not supported`, hint);
  }
  if (index === 3 && /\dW|LW|W/i.test(field)) {
    const hint = 'For a working day use day-of-week, for example "0 9 15 * *" or "0 9 * * mon#3".';
    throw badExpression(text, 'W (the nearest working day) is not supported', hint);
  }
  for (const [, step] of field.matchAll(/\/(\d+)/g)) {
    if (Number(step) <= (SIZES[index] ?? 0)) continue;
    const why = `a step of ${step} in its ${name} is longer than the field`;
    throw badExpression(text, why, 'A step counts within its field; for intervals use --every.');
  }
}

function parse(text: string, plain: string): CronExpression {
  try {
    return CronExpressionParser.parse(plain, { tz: 'UTC', currentDate: new Date(0) });
  } catch (error) {
    const said = ensureError(error).message;
    if (said === 'Invalid explicit day of month definition') {
      const why = 'its day-of-month never comes in its month';
      throw badExpression(text, why, 'For the last day of a month write L.');
    }
    throw badExpression(text, said, FORM);
  }
}
