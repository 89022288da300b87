/** `troupe cron`: a part of the command table. */
import type { CommandSpec } from './command.ts';

export const CRON: CommandSpec = {
  name: 'cron',
  args: [
    ['<action>', '`next`: when a schedule is due, without any job'],
    ['[words...]', 'for `next`: the schedule, in quotes'],
  ],
  summary: 'see when a schedule is due',
  details:
    'A schedule has five fields (minute hour day-of-month month day-of-week), or six with seconds first, or is a name such as\n' +
    '@daily. When both day fields are given either will do. Times are those of clocks in the zone, also in the nights when\n' +
    'they change: a time that is left out comes at the first moment after the gap, one that comes twice counts once.',
  options: [
    {
      flags: '--tz <zone>',
      description: 'IANA name of the time zone, such as Europe/Berlin (default: of this machine)',
    },
    { flags: '--from <time>', description: 'for `next`: from then on (default: now)' },
    { flags: '-n, --count <n>', description: 'for `next`: how many (default: 5)' },
  ],
  examples: [
    "troupe cron next '30 7 * * mon-fri' --tz Europe/Berlin",
    "troupe cron next '@monthly' --tz America/New_York --from 2027-01-01 -n 3 --json",
  ],
  load: () => import('./commands/cron.ts'),
};
