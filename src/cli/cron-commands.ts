/** `troupe cron`: a part of the command table. */
import type { CommandSpec, OptionSpec } from './command.ts';

const WHEN: readonly OptionSpec[] = [
  { flags: '--schedule <expr>', description: 'when: a cron expression, in quotes' },
  { flags: '--at <time>', description: 'when: once, such as 2027-01-31T07:30' },
  { flags: '--every <time>', description: 'when: an interval, such as 15m' },
  {
    flags: '--tz <zone>',
    description: 'IANA name of the time zone, such as Europe/Berlin (default: of this machine)',
  },
  { flags: '--start <time>', description: 'not before' },
  { flags: '--end <time>', description: 'not after' },
  { flags: '--max-runs <n>', description: 'not more often' },
  { flags: '--jitter <time>', description: 'put each slot off by up to this, always by the same' },
];

const WHAT: readonly OptionSpec[] = [
  { flags: '--team <file>', description: 'what: run this team' },
  { flags: '--prompt <text>', description: 'what: a run with this one task, for --agent' },
  { flags: '--agent <profile>', description: 'for --prompt: which agent' },
  { flags: '--to <actor>', description: 'what: write --text to a live actor' },
  { flags: '--text <text>', description: 'for --to: what to say' },
  {
    flags: '--run <id>',
    description: 'for --to: the run meant (default: the newest that goes on)',
  },
  { flags: '--command <cmd>', description: 'what: a command, in your checkout, with your rights' },
];

const HOW: readonly OptionSpec[] = [
  {
    flags: '--overlap <policy>',
    description: 'while the one before runs: skip, queue or replace (default: skip)',
  },
  {
    flags: '--catch-up <policy>',
    description: 'of slots that were missed: skip, one or all:N (default: one)',
  },
  {
    flags: '--on-crash <policy>',
    description: 'a run that a crash cut off: resume or record (default: resume)',
  },
  { flags: '--time-limit <time>', description: 'stop what takes longer' },
  { flags: '--budget-usd <amount>', description: 'of each run' },
  { flags: '--model <provider/model>', description: "of its runs, instead of the team's" },
  { flags: '--mode <mode>', description: "the policy mode of its runs, instead of the team's" },
  {
    flags: '--attended',
    description: 'its runs wait for your answers (default: what would be asked is denied)',
  },
  { flags: '--notify-command <cmd>', description: 'run this when a slot did not end well' },
  { flags: '--notify-webhook <url>', description: 'post JSON there when a slot did not end well' },
  {
    flags: '--notify-host <host>',
    description: 'the host of the webhook, when it is not this machine',
  },
];

export const CRON: CommandSpec = {
  name: 'cron',
  args: [
    ['<action>', 'add, list, show, rm, pause, resume, trigger, history or next'],
    ['[words...]', 'the name of the job; for `next`: the schedule, in quotes'],
  ],
  summary: 'run things again and again: add, list, pause and watch recurring jobs',
  details:
    'Jobs run while `troupe up` is there; what was missed meanwhile follows --catch-up. `next` only tells when a schedule is\n' +
    'due. A schedule has five fields (minute hour day-of-month month day-of-week), or six with seconds first, or is a name\n' +
    'such as @daily. When both day fields are given either will do. Times are those of clocks in the zone, also in the nights\n' +
    'when they change: one that is left out comes at the first moment after the gap, one that comes twice counts once.',
  options: [
    ...WHEN,
    ...WHAT,
    ...HOW,
    { flags: '--from <time>', description: 'for `next`: from then on (default: now)' },
    { flags: '-n, --count <n>', description: 'for `next`: how many (default: 5)' },
  ],
  examples: [
    "troupe cron add triage --schedule '30 7 * * mon-fri' --tz Europe/Berlin --team triage.yaml",
    "troupe cron add deps --schedule '0 6 1 * *' --prompt 'Update the dependencies' --agent implementer",
    "troupe cron add deploy --at 2027-01-31T07:30 --to lead --text 'Check that deploy'",
    'troupe cron list',
    "troupe cron next '@monthly' --tz America/New_York --from 2027-01-01 -n 3 --json",
  ],
  load: () => import('./commands/cron.ts'),
};
