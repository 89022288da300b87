/** Jobs that an agent makes: they come back to it while its run goes on, or outlive the run when a person says so. */
import { z } from 'zod';
import { NAME } from '../kernel/index.ts';
import { JOB_PROMPT_MAX } from './limits.ts';
import { makeTool, parameters, type Tool } from './tool.ts';

const jobName = z
  .string()
  .regex(NAME, 'small letters, digits, - and _, at most 48, starting with a letter or digit');

export const scheduleCronTool: Tool = makeTool({
  name: 'schedule_cron',
  description:
    'Has a prompt come again at set times, or once. Without `agent` it comes to you by mail (cron.fired), as long as this ' +
    'run goes on: end your turn meanwhile, do not wait in a command. With `agent`, or with durable true, it is a run of its ' +
    'own for that profile, also after this one has ended; a person is asked for that, and it has no more rights and no more ' +
    'money than this run. `schedule` is a cron expression (`30 7 * * mon-fri`, `@daily`), `every 15m`, `in 20m`, or a date ' +
    'and time.',
  access: 'team',
  schema: parameters({
    name: jobName,
    schedule: z.string().min(1).max(1_000),
    tz: z.string().min(1).max(64).optional().describe('IANA name; without it UTC.'),
    prompt: z.string().min(1).max(JOB_PROMPT_MAX),
    agent: z.string().min(1).optional().describe('A profile of this run.'),
    once: z.boolean().optional().describe('Only the first time that it is due.'),
    durable: z.boolean().optional(),
  }),
});

export const listCronsTool: Tool = makeTool({
  name: 'list_crons',
  description: 'Lists the jobs that this run has made, and when each is due next.',
  access: 'team',
  schema: parameters({}),
});

export const cancelCronTool: Tool = makeTool({
  name: 'cancel_cron',
  description: 'Ends a job that this run has made.',
  access: 'team',
  schema: parameters({ name: jobName }),
});
