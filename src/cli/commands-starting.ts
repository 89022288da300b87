/** The commands that begin, go on with, play again and end runs: a part of the command table. */

import type { CommandSpec } from './command.ts';
import { DETACH } from './commands-up.ts';
import { RESUME } from './spending-commands.ts';

export const starting: readonly CommandSpec[] = [
  {
    name: 'demo',
    args: [['[dir]', 'where to make it (default: troupe-demo)']],
    summary: 'watch a whole team work on a small repository; needs no key and no network',
    details:
      'Makes a repository with failing tests, runs a team on it whose models are scripted, and shows what happened.\n' +
      'Started again it goes on with its own demo. It ends with 0 when all is done and the tests pass.',
    options: [],
    examples: ['troupe demo', 'troupe demo /tmp/demo'],
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'init',
    args: [['[file]', 'where to write it (default: team.yaml)']],
    summary: 'write a commented team file to start from',
    options: [{ flags: '--force', description: 'overwrite the file when it exists' }],
    examples: ['troupe init', 'troupe init teams/docs.yaml'],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'check',
    args: [['<team>', 'a team file']],
    summary: 'validate a team file and show the order of its tasks',
    options: [],
    examples: ['troupe check team.yaml', 'troupe check team.yaml --json'],
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'run',
    args: [['<team>', 'a team file']],
    summary: 'run a team on the repository and get one verified branch',
    details:
      'In the supervisor that is up (`troupe up`), else in this process.\n' +
      'Ctrl-C once stops gracefully, twice at once; `troupe resume` goes on from there.\n' +
      'Your branch, index, stash and working tree are not touched.',
    options: [
      { flags: '--model <provider/model>', description: "instead of the team file's model" },
      { flags: '--budget-usd <amount>', description: 'stop when this much money is spent' },
      {
        flags: '--run-id <id>',
        description: 'name the run (default: from the team name and time)',
      },
      {
        flags: '--mode <mode>',
        description:
          'ask, accept-edits, read-only, auto-in-sandbox or locked, instead of the team file’s',
      },
      { flags: '--headless', description: 'nobody answers: what would be asked is denied' },
      DETACH,
    ],
    examples: [
      'troupe run team.yaml',
      'troupe run team.yaml --budget-usd 2 --run-id docs-1',
      'troupe run team.yaml --detach',
    ],
    load: () => import('./commands/run.ts'),
  },
  RESUME,
  {
    name: 'replay',
    args: [['<run>', 'a run that was recorded, or a cassette']],
    summary: 'play a run again from its recorded answers, without a network',
    details:
      'Same requests get the recorded answers; tools really run, in trees of their own. The first request that differs\n' +
      'ends it (exit 1) and is shown. A replay with the same requests leaves nothing behind, unless told to.',
    options: [
      { flags: '--keep', description: 'keep the replay as a run of its own' },
      {
        flags: '--export <file>',
        description: 'write a cassette without secrets, and play nothing',
      },
    ],
    examples: ['troupe replay docs-1', 'troupe replay docs-1 --export docs-1.cassette.jsonl'],
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'stop',
    args: [['[run]', 'the run meant (default: the one that is running)']],
    summary: 'stop a run or one actor; returns when it has stopped',
    options: [
      { flags: '--actor <name>', description: 'stop only this actor' },
      { flags: '--now', description: 'do not let running work end' },
    ],
    examples: ['troupe stop', 'troupe stop docs-1 --now', 'troupe stop --actor ada'],
    load: () => import('./commands/stop.ts'),
  },
];
