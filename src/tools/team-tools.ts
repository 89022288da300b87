/**
 * The tools that the supervisor runs: commands, mail, tasks, subagents. Here are their names, parameters and what the
 * model is told; what they do is decided where the state is.
 */
import { z } from 'zod';
import { NAME } from '../kernel/index.ts';
import { BASH_TIMEOUT_MS_MAX } from './limits.ts';
import { makeTool, parameters, succeeded, type Tool } from './tool.ts';

const name = z.string().min(1);
const newId = z
  .string()
  .regex(NAME, 'small letters, digits, - and _, at most 48, starting with a letter or digit');

const background = z
  .literal(false, { error: 'running in the background is not available in this version' })
  .optional();

export const bashTool: Tool = makeTool({
  name: 'bash',
  description:
    'Runs a shell command at the root of your tree and waits for its end. You get its exit status and its output ' +
    '(stdout and stderr). It has no input and no terminal. Do not commit and do not switch branches: the runtime ' +
    'commits your work when you complete the task.',
  access: 'exec',
  schema: parameters({
    command: z.string().min(1),
    timeout_ms: z.number().int().min(1).max(BASH_TIMEOUT_MS_MAX).optional(),
    background,
  }),
});

export const sendMessageTool: Tool = makeTool({
  name: 'send_message',
  description:
    'Sends a message to another member of the team, to `lead` or to `user`. It arrives while they work, at their next ' +
    'step. Use lane `interrupt` only when what they do right now must stop.',
  access: 'team',
  schema: parameters({
    to: name,
    text: z.string().min(1),
    lane: z.enum(['interrupt', 'normal', 'bulk']).optional(),
  }),
});

export const checkInboxTool: Tool = makeTool({
  name: 'check_inbox',
  description:
    'Says whether new messages wait. You need not call it: messages are put into your conversation by themselves.',
  access: 'read',
  schema: parameters({}),
  run: async (_input, context) => {
    const count = context.inbox();
    if (count === 0) return succeeded('no new messages');
    const messages = count === 1 ? '1 new message follows' : `${count} new messages follow`;
    return succeeded(`${messages} after the results of your calls`);
  },
});

export const createTaskTool: Tool = makeTool({
  name: 'create_task',
  description:
    'Adds a task to the graph. An agent task has a prompt that says all its worker needs to know; a command task has ' +
    '`run`, a shell command, and needs no agent. `needs` lists ids of tasks that must be done before; `verify` lists ' +
    'commands that must pass before the task counts as done.',
  access: 'team',
  schema: parameters({
    id: newId,
    title: z.string().min(1),
    prompt: z.string().min(1).optional().describe('Of an agent task.'),
    run: z.string().min(1).optional().describe('Of a command task.'),
    needs: z.array(name).optional(),
    agent: name.optional().describe('Profile that may claim it; without it any teammate.'),
    touches: z.array(z.string().min(1)).optional().describe('Globs of the paths it will change.'),
    verify: z.array(z.string().min(1)).optional(),
  }).refine((input) => (input.prompt === undefined) !== (input.run === undefined), {
    error: 'a task has either prompt or run',
    path: ['prompt'],
  }),
});

export const listTasksTool: Tool = makeTool({
  name: 'list_tasks',
  description: 'Lists all tasks with state, owner and what they wait for.',
  access: 'team',
  schema: parameters({}),
});

export const getTaskTool: Tool = makeTool({
  name: 'get_task',
  description: 'Shows one task whole: prompt, state, gates, attempts and the reason why it waits.',
  access: 'team',
  schema: parameters({ id: name }),
});

export const claimTaskTool: Tool = makeTool({
  name: 'claim_task',
  description:
    'Claims a ready task for yourself. You get a tree of your own to work in. Tasks are also assigned to you without ' +
    'asking; you need this only to choose one yourself.',
  access: 'team',
  schema: parameters({ id: name }),
});

export const completeTaskTool: Tool = makeTool({
  name: 'complete_task',
  description:
    'Says that your task is finished. The runtime then commits all changes of your tree, runs the gates and merges. ' +
    'When a gate fails you get the task back with its output. Call it alone, as the last thing.',
  access: 'team',
  schema: parameters({
    summary: z.string().min(1).describe('What was done and why, for those who review it.'),
    task: name.optional(),
  }),
});

export const failTaskTool: Tool = makeTool({
  name: 'fail_task',
  description: 'Gives your task up. Say why, so that the next worker does not start from nothing.',
  access: 'team',
  schema: parameters({ reason: z.string().min(1), task: name.optional() }),
});

export const taskTool: Tool = makeTool({
  name: 'task',
  description:
    'Starts a subagent on a self-contained piece of work and waits for its answer. It works in your tree and knows ' +
    'nothing of your conversation: the prompt must say everything.',
  access: 'team',
  schema: parameters({
    prompt: z.string().min(1),
    agent: name.optional().describe('Profile; without it your own.'),
    background,
  }),
});
