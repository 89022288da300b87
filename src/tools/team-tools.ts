/**
 * The tools that the supervisor runs: mail, tasks, subagents. Here are their names, parameters and what the
 * model is told; what they do is decided where the state is.
 */
import { z } from 'zod';
import { NAME } from '../kernel/index.ts';
import { INBOX_CHARS, INBOX_ROWS } from './limits.ts';
import { type InboxItem, makeTool, parameters, succeeded, type Tool } from './tool.ts';

const name = z.string().min(1);
const newId = z
  .string()
  .regex(NAME, 'small letters, digits, - and _, at most 48, starting with a letter or digit');

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
    'Shows which messages wait and which you have seen last. You need not call it: messages are put into your ' +
    'conversation by themselves.',
  access: 'read',
  schema: parameters({}),
  run: async (_input, context) => {
    const { waiting, seen } = context.inbox();
    const count = waiting.length;
    const messages = count === 1 ? '1 new message follows' : `${count} new messages follow`;
    const news = count === 0 ? 'no new messages' : `${messages} after the results of your calls:`;
    const before = seen.length === 0 ? [] : [`${seen.length} seen before, the last of them:`];
    return succeeded(
      [news, ...waiting.slice(0, INBOX_ROWS).map(mailLine), ...rest(count)]
        .concat(before, seen.slice(-INBOX_ROWS).map(mailLine))
        .join('\n'),
    );
  },
});

function mailLine({ n, from, type, text }: InboxItem): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const shown = line.length > INBOX_CHARS ? `${line.slice(0, INBOX_CHARS)}…` : line;
  return `- #${n} from ${from} · ${type}: ${shown}`;
}

function rest(count: number): string[] {
  return count > INBOX_ROWS ? [`- … and ${count - INBOX_ROWS} more`] : [];
}

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
    'Starts a subagent on a self-contained piece of work and waits for its answer; with background true it does not ' +
    'wait, and the answer comes by mail. It works in your tree and knows nothing of your conversation: the prompt must ' +
    'say everything.',
  access: 'team',
  schema: parameters({
    prompt: z.string().min(1),
    agent: name.optional().describe('Profile; without it your own.'),
    background: z.boolean().optional(),
  }),
});

export const spawnTeammateTool: Tool = makeTool({
  name: 'spawn_teammate',
  description:
    'Brings one more member into the team, for as long as the run goes on. It gets `prompt` as its first letter, and ' +
    'takes ready tasks of its profile by itself. Use it when work of a kind comes up that nobody in the team is for; for ' +
    'one question a subagent (task) is enough.',
  access: 'team',
  schema: parameters({
    name: name.describe('Small letters, digits, - and _; of nobody who is there.'),
    agent: name.describe('An agent profile of this run.'),
    prompt: z.string().min(1).optional(),
  }),
});

export const teamStatusTool: Tool = makeTool({
  name: 'team_status',
  description:
    'Shows who is in the team, what each does and has used, how much mail waits for it, and which plans wait for whom. You ' +
    'hear of ends, plans and messages by mail: do not call it over and over.',
  access: 'team',
  schema: parameters({}),
});

export const requestPlanTool: Tool = makeTool({
  name: 'request_plan',
  description:
    'Asks a member for a plan before it goes on. The plan comes to you by mail (plan.proposed); decide on it with ' +
    'review_plan. When the lead asks, or who brought the member in, it changes nothing until a plan is approved.',
  access: 'team',
  schema: parameters({
    from: name,
    about: z.string().min(1).describe('What the plan must answer.'),
  }),
});

export const submitPlanTool: Tool = makeTool({
  name: 'submit_plan',
  description:
    'Sends your plan to who must approve it: the lead, else the user, or the one who asked for it. End your turn after it; ' +
    'the decision comes by mail. Where a plan is required, nothing can be changed before it is approved.',
  access: 'team',
  schema: parameters({
    plan: z
      .string()
      .min(1)
      .describe('What you will change, where, in which order, and how you will check it.'),
    task: name.optional().describe('The task that you hold.'),
  }),
});

export const reviewPlanTool: Tool = makeTool({
  name: 'review_plan',
  description:
    'Approves or rejects what was sent to you for review, by its id: a plan (plan-1) or, of a reviewer, the diff of a ' +
    'task (review-1). A rejection keeps its gate shut: say in ' +
    '`feedback` what must be different.',
  access: 'team',
  schema: parameters({
    id: name,
    approve: z.boolean(),
    feedback: z.string().min(1).optional(),
  }),
});

export const requestShutdownTool: Tool = makeTool({
  name: 'request_shutdown',
  description:
    'Asks a member that you lead or brought in to shut down. It may bring its work to an end, or refuse with a reason; you ' +
    'hear of it by mail, and past a deadline it is stopped by force. With your own name it is your answer to such a ' +
    'request: you are ready.',
  access: 'team',
  schema: parameters({ name, reason: z.string().min(1).optional() }),
});
