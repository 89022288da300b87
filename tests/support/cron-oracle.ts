/**
 * When a cron expression fires, worked out the long way: a reader of its own for expressions, and every minute that clocks
 * of a zone show, read from `Intl`. Shares no code with `src/cron`, nor cron-parser.
 */
const MINUTE_MS = 60_000;

interface Fields {
  readonly minute: ReadonlySet<number>;
  readonly hour: ReadonlySet<number>;
  readonly month: ReadonlySet<number>;
  readonly day: (date: Shown) => boolean;
}

interface Shown {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

/** Every firing of five-field expressions in `from <= at < to`, both whole minutes. */
export function oracleOf(tz: string, from: number, to: number): (expression: string) => number[] {
  const minutes = shownMinutes(tz, from - 3 * 3_600_000, to);
  return (expression) => firings(read(expression), minutes, { from, to });
}

function firings(
  fields: Fields,
  minutes: readonly Minute[],
  { from, to }: { readonly from: number; readonly to: number },
): number[] {
  const found = fields.hour.size === 24 ? everyFitting(fields, minutes) : once(fields, minutes);
  return found.filter((at) => at >= from && at < to);
}

/** Whatever the clock shows, as often as it shows it. */
function everyFitting(fields: Fields, minutes: readonly Minute[]): number[] {
  return minutes.filter(({ shown }) => fits(fields, shown)).map(({ at }) => at);
}

/** Each local minute once: the first time it is shown, or, when it is left out, with the first one after the gap. */
function once(fields: Fields, minutes: readonly Minute[]): number[] {
  const fired = new Set<number>();
  const seen = new Set<number>();
  let before: Minute | null = null;
  for (const minute of minutes) {
    const { at, wall, shown } = minute;
    if (before !== null) {
      for (let left = before.wall + MINUTE_MS; left < wall; left += MINUTE_MS) {
        if (fits(fields, partsOf(left))) fired.add(at);
      }
    }
    if (!seen.has(wall) && fits(fields, shown)) fired.add(at);
    seen.add(wall);
    before = minute;
  }
  return [...fired].toSorted((a, b) => a - b);
}

interface Minute {
  readonly at: number;
  /** What clocks show, as if it were UTC. */
  readonly wall: number;
  readonly shown: Shown;
}

const known: Map<string, Intl.DateTimeFormat> = new Map();

function shownMinutes(tz: string, from: number, to: number): Minute[] {
  const format =
    known.get(tz) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: tz,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  known.set(tz, format);
  const minutes: Minute[] = [];
  for (let at = from; at < to; at += MINUTE_MS) {
    const match = /(\d+)\/(\d+)\/(\d+), (\d+):(\d+)/.exec(format.format(at));
    const [, month, day, year, hour, minute] = (match ?? []).map(Number);
    const wall = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute);
    minutes.push({ at, wall, shown: partsOf(wall) });
  }
  return minutes;
}

function partsOf(wall: number): Shown {
  const date = new Date(wall);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
}

function fits(fields: Fields, shown: Shown): boolean {
  return (
    fields.minute.has(shown.minute) &&
    fields.hour.has(shown.hour) &&
    fields.month.has(shown.month) &&
    fields.day(shown)
  );
}

function read(expression: string): Fields {
  const [minute = '', hour = '', dom = '', month = '', dow = ''] = expression.split(' ');
  return {
    minute: numbers(minute, 0, 59, []),
    hour: numbers(hour, 0, 23, []),
    month: numbers(month, 1, 12, MONTHS),
    day: dayTest(dom, dow),
  };
}

/** Standard: when both name days, either will do. */
function dayTest(dom: string, dow: string): (date: Shown) => boolean {
  const free = (text: string): boolean => text === '*' || text === '?';
  const byDom = domTest(dom);
  const byDow = dowTest(dow);
  if (free(dom)) return free(dow) ? () => true : byDow;
  return free(dow) ? byDom : (date) => byDom(date) || byDow(date);
}

function domTest(dom: string): (date: Shown) => boolean {
  const last = ({ year, month }: Shown): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (dom === 'L') return (date) => date.day === last(date);
  const days = numbers(dom, 1, 31, []);
  return (date) => days.has(date.day);
}

function dowTest(dow: string): (date: Shown) => boolean {
  const nth = /^(\w+)#(\d)$/.exec(dow);
  if (nth !== null) {
    const [weekday] = [...numbers(nth[1] ?? '', 0, 7, WEEKDAYS)];
    return (date) => date.weekday === weekday && Math.ceil(date.day / 7) === Number(nth[2]);
  }
  const lastOne = /^(\d)L$/.exec(dow);
  if (lastOne !== null) {
    return ({ year, month, day, weekday }) =>
      weekday === Number(lastOne[1]) % 7 &&
      day + 7 > new Date(Date.UTC(year, month, 0)).getUTCDate();
  }
  const weekdays = new Set([...numbers(dow, 0, 7, WEEKDAYS)].map((value) => value % 7));
  return (date) => weekdays.has(date.weekday);
}

function numbers(text: string, min: number, max: number, names: readonly string[]): Set<number> {
  const found = new Set<number>();
  const value = (word: string): number => {
    const at = names.indexOf(word.toLowerCase());
    return at === -1 ? Number(word) : at + (names === MONTHS ? 1 : 0);
  };
  for (const part of text.split(',')) {
    const [range = '', step] = part.split('/');
    const [low = '', high] = range.split('-');
    const wide = low === '*' || low === '?';
    const first = wide ? min : value(low);
    let last = wide ? max : high === undefined ? (step === undefined ? first : max) : value(high);
    if (last < first && names === WEEKDAYS) last += 7;
    for (let at = first; at <= last; at += Number(step ?? 1)) found.add(at);
  }
  return found;
}
