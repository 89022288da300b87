/** Commands about what a run may spend and has spent. */
import { type CommandSpec, RUN } from './command.ts';
import { DETACH } from './commands-up.ts';

export const RESUME: CommandSpec = {
  name: 'resume',
  args: [['<run>', 'a run that was interrupted, or has ended by its budget']],
  summary: 'go on with an interrupted run from its journal',
  details: 'A budget is what the run may spend in all, with what is spent already.',
  options: [
    { flags: '--budget-usd <amount>', description: 'stop when this much money is spent in all' },
    { flags: '--budget-tokens <n>', description: 'stop when this many tokens are used in all' },
    {
      flags: '--budget-wall <time>',
      description: 'stop after so much time of work, such as 45m',
    },
    { flags: '--budget-turns <n>', description: 'stop after this many model answers in all' },
    DETACH,
  ],
  examples: ['troupe resume docs-1', 'troupe resume docs-1 --budget-usd 5'],
  load: () => import('./commands/resume.ts'),
};

export const USAGE: CommandSpec = {
  name: 'usage',
  args: [['[run]', 'the run meant (default: the newest)']],
  summary: 'show tokens and cost of a run, by actor, task and model',
  options: [{ flags: '--by <what>', description: 'only by this: actor, task or model' }, RUN],
  examples: ['troupe usage', 'troupe usage docs-1 --by model', 'troupe usage --json'],
  load: () => import('./commands/usage.ts'),
};
