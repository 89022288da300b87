/** The commands of the supervisor that stays: a part of the command table. */
import type { CommandSpec, OptionSpec } from './command.ts';

export const DETACH: OptionSpec = {
  flags: '--detach',
  description: 'leave it to the supervisor that is up (one is started if none is), and return',
};

export const staying: readonly CommandSpec[] = [
  {
    name: 'up',
    args: [],
    summary: 'start a supervisor that stays, and is started again when it dies',
    details:
      'Returns when it is ready, or says what kept it from that; fine when one is up already. From then on `troupe run`\n' +
      'leaves its runs to it. It has the environment of this command, keys of providers included.',
    options: [
      {
        flags: '--foreground',
        description: 'stay here and keep it, until Ctrl-C or `troupe down`',
      },
      {
        flags: '--print-unit',
        description: 'only print a unit for systemd (Linux) or launchd (macOS)',
      },
    ],
    examples: ['troupe up', 'troupe up --print-unit'],
    load: () => import('./commands/up.ts'),
  },
  {
    name: 'down',
    args: [],
    summary: 'end the supervisor that is up; returns when nothing of it is left',
    details: 'Its runs are interrupted; `troupe resume` goes on with them.',
    options: [
      {
        flags: '--deadline <time>',
        description: 'how long running work may take to end (default: 30s)',
      },
      { flags: '--now', description: 'do not let running work end' },
    ],
    examples: ['troupe down', 'troupe down --deadline 5m', 'troupe down --now'],
    load: () => import('./commands/down.ts'),
  },
  {
    name: 'status',
    args: [],
    summary: 'say which supervisor works here, on what, and whether it would be started again',
    details: 'Ends with 4 when there is none, and says why, if that is known.',
    options: [],
    examples: ['troupe status', 'troupe status --json'],
    load: () => import('./commands/status.ts'),
  },
];
