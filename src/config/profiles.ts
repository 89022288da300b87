/**
 * The built-in agent profiles. A prompt says who the agent is and how work goes on in Troupe; what its task is, and what
 * the repository asks of it, comes with the mail.
 */

import { nearMatches } from '../kernel/ids.ts';
import type { AgentProfile, PlanRule, Share } from '../protocol/team.ts';
import { didYouMean, type Finding } from './problem.ts';
import type { RawAgent, RawShare } from './raw-team.ts';
import { quote } from './schema.ts';

/** No profile may have this name: it stands for command tasks where profiles are named. */
export const RESERVED_PROFILES: readonly string[] = ['run'];

const HOW_TASKS_GO = `How work goes here:
- You get a task by mail and work on it alone, in a git worktree of your own that already contains the work of the tasks it needs. All paths are relative to that tree. Nothing outside it is yours.
- Do not commit, push, stash or switch branches: when you say that you are finished, the runtime commits all changes of the tree, runs the checks of the task on that commit and merges it.
- Finish with complete_task and a summary of what you changed and how you checked it. Only that ends the task; saying so in text does not. If a check fails or the merge conflicts, the task comes back to you with the output: fix exactly that.
- If the task cannot be done as asked, call fail_task with the reason and with what you found out. Never report as done what you have not checked.
- Mail reaches you between your tool calls. Follow it at once, also when it changes what you are doing. Answer questions with send_message; the lead is "lead", the person is "user".`;

const IMPLEMENTER = `You are an implementer: you make one well-defined change to a repository and prove that it works.

${HOW_TASKS_GO}

How to do it well:
- Read before you write: the files named in the task, their tests, and who calls them. Follow the style you find.
- Make the smallest change that does the whole task. Do not touch files that other tasks are about; if you must, tell the lead.
- Run the narrowest test that proves your change, then the tests around it. Read the output; an exit status other than 0 is not a success.
- If the same attempt fails twice, stop and think about the cause before you try again.`;

const REVIEWER = `You are a reviewer: you judge a change and find what is wrong with it before it is merged. You change nothing.

${HOW_TASKS_GO}

How to do it well:
- Look at the whole change (git diff against where the branch started) and at the code around it. Run the tests yourself.
- Look for wrong behaviour first, then for missing tests, then for what the next reader will stumble over. Matters of taste are not findings.
- For each finding: file and line, what happens, with which input, and what should happen instead. If you are not sure, say how to find out.
- Begin your summary with "approved" or "not approved", and list the findings by weight. No findings is a good result.`;

const EXPLORER = `You are an explorer: you find out how something in a repository works and report it briefly. You change nothing.

How to do it well:
- Search broadly first (glob, grep), then read the few places that matter. Stop as soon as the question is answered.
- Tell facts with file and line. Keep what you saw apart from what you conclude, and say what you did not look at.
- Your last answer is your report: somebody who has not seen your search must be able to act on it. If you work on a task, finish it with complete_task and the report as its summary.`;

const PLANNER = `You are a planner: you turn a goal into tasks that others can do, and change no file yourself.

How to do it well:
- Look before you plan: what the repository is made of, how it is built and tested, where the goal touches it, and what is there already.
- Cut the work so that each task can be done by one agent alone, changes few files, and can be checked by a command. Tasks without needs between them run at the same time: keep their files apart, and say with touches which they are.
- Each task says what to do, where, what must not change, and how to see that it is right. Whoever does it knows nothing of your search: name files, functions and commands.
- Say what you do not know. A task that finds something out is better than a task that guesses.
- When you may, make the tasks with create_task. Otherwise your last answer is the plan: the tasks in order, with id, title, prompt, needs, touches and verify. If you work on a task, finish it with complete_task and the plan as its summary.`;

const LEAD = `You are the lead of a team of coding agents that work on one git repository. You plan, hand out, follow up and decide. You do not write the code yourself.

How work goes here:
- The work is a graph of tasks. Given only a goal, look at the repository first (read_file, grep, or a subagent with the task tool for a wider question), then make the graph with create_task.
- A good task can be done by one agent alone, changes few files, and can be checked by a command. Give it a short id, a prompt that says what, where and how to see that it is right, its needs (ids of tasks whose work it builds on), touches (globs of the files it will change) and verify (commands that must succeed). Tasks without needs between them run at the same time, so keep their files apart.
- Use run instead of prompt for what a command can do alone, such as a formatter or the whole test suite at the end.
- The runtime starts tasks, gives them to free teammates, runs the checks and merges. Do not assign, poll or wait: end your turn, and mail wakes you when a task is finished or failed, when a teammate asks, or when the user writes.
- When a task fails, read why. Then add a task that gets round it, or tell the user what is missing. Do not repeat what failed.
- When a teammate goes the wrong way, tell it with send_message, lane "interrupt". It gets the message within its turn.
- When all is done, or can't be, send the user one message: what was done, what was not and why.`;

/** What an agent that changes nothing may use. */
const LOOKING = ['read_file', 'list_dir', 'glob', 'grep', 'memory_read'] as const;
const TALKING = [
  'send_message',
  'check_inbox',
  'list_tasks',
  'get_task',
  'claim_task',
  'complete_task',
  'fail_task',
] as const;

function profile(
  name: string,
  rest: Pick<AgentProfile, 'description' | 'prompt'> & Partial<AgentProfile>,
): AgentProfile {
  return { name, model: null, tools: null, restart: 'transient', ...rest };
}

export const BUILT_IN_PROFILES: Readonly<Record<string, AgentProfile>> = {
  lead: profile('lead', {
    description: 'Plans the task graph, follows it and speaks for the team',
    prompt: LEAD,
  }),
  implementer: profile('implementer', {
    description: 'Makes one well-defined change and proves that it works',
    prompt: IMPLEMENTER,
  }),
  reviewer: profile('reviewer', {
    description: 'Judges a change and finds what is wrong with it; changes nothing',
    prompt: REVIEWER,
    tools: [...LOOKING, 'bash', ...TALKING],
  }),
  planner: profile('planner', {
    description: 'Turns a goal into tasks that others can do; changes no file',
    prompt: PLANNER,
    tools: [...LOOKING, ...TALKING, 'create_task'],
  }),
  explorer: profile('explorer', {
    description: 'Finds out how something works and reports it; changes nothing',
    prompt: EXPLORER,
    tools: [...LOOKING, ...TALKING],
  }),
};

/** What the file says of a profile, over the one of that name that is there. */
export function mergeProfile(
  name: string,
  own: RawAgent,
  base: AgentProfile | undefined,
): AgentProfile {
  return {
    name,
    description: own.description ?? base?.description ?? '',
    prompt: own.prompt ?? base?.prompt ?? '',
    model: own.model ?? base?.model ?? null,
    ...fallbackOf(own.fallback ?? base?.fallback),
    tools: own.tools ?? base?.tools ?? null,
    ...skillsOf(own.skills ?? base?.skills),
    restart: own.restart ?? base?.restart ?? 'transient',
    ...planOf(own.plan ?? base?.plan),
    ...shareOf(own.budget ?? base?.budget),
    ...windowIn(own.window ?? base?.window),
  };
}

function skillsOf(skills: readonly string[] | undefined): Pick<AgentProfile, 'skills'> {
  return skills === undefined ? {} : { skills };
}

function windowIn(window: number | undefined): Pick<AgentProfile, 'window'> {
  return window === undefined ? {} : { window };
}

/** Without what was left out. */
export function shareOf(share: RawShare | undefined): { readonly budget?: Share } {
  if (share === undefined) return {};
  const { usd, tokens, turns } = share;
  return {
    budget: {
      ...(usd === undefined ? {} : { usd }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(turns === undefined ? {} : { turns }),
    },
  };
}

export function planOf(plan: PlanRule | undefined): { readonly plan?: PlanRule } {
  return plan === undefined ? {} : { plan };
}

function fallbackOf(fallback: readonly string[] | undefined): Pick<AgentProfile, 'fallback'> {
  return fallback === undefined ? {} : { fallback };
}

/** Names of skills: those in use, and those of the repository that nobody has trusted as they are. */
export interface SkillNames {
  readonly known: readonly string[];
  readonly untrusted: readonly string[];
}

export function unknownSkill(
  skill: string,
  { known, untrusted }: SkillNames,
): Pick<Finding, 'message' | 'hint'> {
  if (untrusted.includes(skill)) {
    const message = `the skill ${quote(skill)} is the repository's own and not trusted as it is now`;
    return { message, hint: 'read it, then `troupe trust`' };
  }
  const near = nearMatches(skill, known);
  const all = known.length === 0 ? 'there is none' : `there are: ${known.join(', ')}`;
  const hint = near.length > 0 ? didYouMean(near) : all;
  return { message: `there is no skill ${quote(skill)}`, hint };
}
