/** `troupe trace`. */
import type { CommandSpec } from './command.ts';

export const TRACE: CommandSpec = {
  name: 'trace',
  args: [['[run]', 'a run (default: the newest)']],
  summary: 'show all layers of a run: messages on the wire, events, calls of models',
  details:
    'Events and models come from the journal, with or without a supervisor. The wire is what the supervisor that runs now\n' +
    'still has of it. Secrets are taken out, also with `--raw`.',
  options: [
    { flags: '--follow', description: 'go on with what happens until the run ends' },
    { flags: '--layer <layers>', description: 'only these: wire, events, model (with commas)' },
    { flags: '--actor <name>', description: 'only what this actor did' },
    { flags: '--raw', description: 'whole answers and parameters' },
  ],
  examples: [
    'troupe trace',
    'troupe trace docs-1 --layer model --actor ada --raw',
    'troupe trace --follow --json',
  ],
  load: () => import('./commands/trace.ts'),
};
