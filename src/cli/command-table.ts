/**
 * All commands: what `--help` shows and what is parsed. Their code is loaded only when one is run, so that `--help`
 * costs little more than starting Node.
 */

import { type CommandSpec, type OptionSpec, RUN } from './command.ts';
import { results } from './commands-results.ts';
import { starting } from './commands-starting.ts';
import { staying } from './commands-up.ts';
import { CRON } from './cron-commands.ts';
import { USAGE } from './spending-commands.ts';
import { TRACE } from './trace-command.ts';

const watching: readonly CommandSpec[] = [
  {
    name: 'runs',
    args: [],
    summary: 'list runs, newest first',
    options: [],
    examples: ['troupe runs', 'troupe runs --json'],
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'ps',
    args: [],
    summary: 'list the actors of a run and what each is doing',
    options: [RUN],
    examples: ['troupe ps', 'troupe ps --run docs-1'],
    load: () => import('./commands/ps.ts'),
  },
  {
    name: 'tasks',
    args: [['[task]', 'only this task, with all that is known of it']],
    summary: 'list the tasks of a run and why each waits',
    options: [RUN],
    examples: ['troupe tasks', 'troupe tasks parser --json'],
    load: () => import('./commands/tasks.ts'),
  },
  {
    name: 'why',
    args: [['[name]', 'only this task or actor']],
    summary: 'say why each task and actor that does not move waits, and what to type',
    options: [RUN],
    examples: ['troupe why', 'troupe why parser', 'troupe why ada --json'],
    load: () => import('./commands/why.ts'),
  },
  USAGE,
  {
    name: 'tail',
    args: [['[actor...]', 'only these mailboxes']],
    summary: 'show the mail of a run',
    options: [
      { flags: '--follow', description: 'go on with new mail until the run ends' },
      { flags: '--from <seq>', description: 'only mail recorded at this sequence number or later' },
      RUN,
    ],
    examples: ['troupe tail', 'troupe tail ada bo --follow', 'troupe tail --from 120 --json'],
    load: () => import('./commands/tail.ts'),
  },
  {
    name: 'session',
    args: [['<actor>', 'a member or subagent']],
    summary: 'show the transcript of an actor: mail, answers, calls, results',
    options: [
      { flags: '--follow', description: 'go on with what is recorded until the run ends' },
      RUN,
    ],
    examples: ['troupe session ada', 'troupe session lead --follow', 'troupe session ada --json'],
    load: () => import('./commands/session.ts'),
  },
  {
    name: 'events',
    args: [],
    summary: 'show what happened in a run, one event a line',
    options: [
      { flags: '--follow', description: 'go on with new events until the run ends' },
      { flags: '--from <cursor>', description: 'only events after this cursor (`<seq>.<i>`)' },
      { flags: '--type <glob>', description: 'only events whose type matches' },
      RUN,
    ],
    examples: ['troupe events', "troupe events --follow --type 'task.*' --json"],
    load: () => import('./commands/events.ts'),
  },
  TRACE,
  {
    name: 'send',
    args: [
      ['<actor>', 'whom to write to'],
      ['<text>', 'what to say'],
    ],
    summary: 'send mail to an actor; it is read within the turn',
    options: [
      { flags: '--interrupt', description: 'stop what the actor is doing to have it read this' },
      RUN,
    ],
    examples: ["troupe send ada 'Use the new parser'", "troupe send ada 'Stop that' --interrupt"],
    load: () => import('./commands/send.ts'),
  },
  {
    name: 'compact',
    args: [['<actor>', 'whose conversation']],
    summary: 'have an actor sum up the older part of its conversation',
    details: 'It is done by itself before a conversation gets too long for the model.',
    options: [{ flags: '--focus <text>', description: 'what must be kept above all' }, RUN],
    examples: ['troupe compact lead', "troupe compact ada --focus 'the failing tests'"],
    load: () => import('./commands/compact.ts'),
  },
  {
    name: 'mail',
    args: [
      ['<action>', '`dead` lists dead letters; `retry` and `drop` settle one'],
      ['[id]', 'id of a dead letter'],
    ],
    summary: 'list mail that could not be delivered; deliver it again, or drop it',
    options: [RUN],
    examples: [
      'troupe mail dead',
      'troupe mail retry env_lead_1_4',
      'troupe mail drop env_lead_1_4',
    ],
    load: () => import('./commands/mail.ts'),
  },
];

const deciding: readonly CommandSpec[] = [
  {
    name: 'plans',
    args: [],
    summary:
      'list the plans of a run: those that wait for you or the lead, and what became of the others',
    options: [RUN],
    examples: ['troupe plans', 'troupe plans --json'],
    load: () => import('./commands/plans.ts'),
  },
  {
    name: 'plan',
    args: [
      ['<action>', '`approve` or `reject`'],
      ['<id>', 'id of a plan, as `troupe plans` shows it'],
    ],
    summary: 'approve or reject a plan; its worker changes nothing before',
    options: [{ flags: '--feedback <text>', description: 'what the worker is told with it' }, RUN],
    examples: ['troupe plan approve plan-1', "troupe plan reject plan-1 --feedback 'Keep the API'"],
    load: () => import('./commands/plan.ts'),
  },
];

const checking: readonly CommandSpec[] = [
  {
    name: 'doctor',
    args: [],
    summary:
      'say what is wrong with journals, trees, processes, settings and more, and what to do about it; mend what is safe',
    details:
      'Shows each setting with where it is from, and never a key. Without --repair it changes nothing, and may be used while\n' +
      'a run goes on. --repair waits for nobody: while a supervisor works here nothing is mended.\n' +
      'Ends with 1 when something is wrong, or is left.',
    options: [
      { flags: '--repair', description: 'mend what no work and no record can be lost by' },
      { flags: '--dry-run', description: 'say what --repair would do' },
      {
        flags: '--probe-sandbox',
        description: 'try to break out of the sandbox of this machine, and tell each attempt',
      },
    ],
    examples: ['troupe doctor', 'troupe doctor --repair --dry-run', 'troupe doctor --json'],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'where',
    args: [],
    summary: 'print where everything is kept',
    options: [],
    examples: ['troupe where', 'troupe where --json'],
    load: () => import('./commands/where.ts'),
  },
];

const RUN_OF_ASK: OptionSpec = {
  flags: '--run <id>',
  description: 'the run meant (default: any that goes on)',
};
const DIGEST: OptionSpec = {
  flags: '--digest <hex>',
  description: 'answer only if it still asks exactly this (from `approvals --json`)',
};

const permissions: readonly CommandSpec[] = [
  {
    name: 'trust',
    args: [['[paths...]', 'files or folders of the repository (default: all that can be trusted)']],
    summary: "let the repository's own policy, agents, skills and tool servers count",
    details:
      'Shows each file with what it would allow, and trusts its content as it is now. A file that changes has to be\n' +
      "trusted again. Until then a repository's policy can only forbid and ask.",
    options: [
      { flags: '--list', description: 'only show them' },
      { flags: '--revoke', description: 'take it back' },
    ],
    examples: ['troupe trust --list', 'troupe trust .troupe/policy.yaml', 'troupe trust --revoke'],
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'approvals',
    args: [],
    summary: 'list what agents ask you for, and how to answer',
    options: [RUN],
    examples: ['troupe approvals', 'troupe approvals --json'],
    load: () => import('./commands/approvals.ts'),
  },
  {
    name: 'approve',
    args: [['<id>', 'an ask, or the beginning of its id']],
    summary: 'allow what an agent asks for, once or from now on',
    details:
      '`once` allows the call that waits. `run` also allows the like for this profile until the run ends, `workspace` for\n' +
      'everybody in this repository for 7 days. `troupe approvals` shows what that would be for each ask.',
    options: [
      { flags: '--scope <scope>', description: 'once, run or workspace (default: once)' },
      {
        flags: '--days <n>',
        description: 'with `--scope workspace`: how long (default: 7, at most 90)',
      },
      DIGEST,
      RUN_OF_ASK,
    ],
    examples: [
      'troupe approve ask_3f2a81',
      'troupe approve ask_3f2a81 --scope workspace --days 30',
    ],
    load: () => import('./commands/approve.ts'),
  },
  {
    name: 'deny',
    args: [['<id>', 'an ask, or the beginning of its id']],
    summary: 'refuse what an agent asks for; it is told why and goes on',
    options: [
      { flags: '--reason <text>', description: 'what the agent is told' },
      DIGEST,
      RUN_OF_ASK,
    ],
    examples: ["troupe deny ask_3f2a81 --reason 'use the lock file'"],
    load: () => import('./commands/deny.ts'),
  },
  {
    name: 'rules',
    args: [
      ['[action]', '`revoke`: take a grant back'],
      ['[id]', 'the grant'],
    ],
    summary: 'list what you have granted from now on, or take it back',
    options: [],
    examples: ['troupe rules', 'troupe rules revoke grant_0c9d'],
    load: () => import('./commands/rules.ts'),
  },
  {
    name: 'audit',
    args: [['[action]', '`verify`: has anybody changed what was recorded?']],
    summary: 'show who decided what in a run, or prove that nobody has changed it',
    options: [RUN],
    examples: ['troupe audit', 'troupe audit --run quickstart-1 --json', 'troupe audit verify'],
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'policy',
    args: [
      ['<action>', '`check`: decide calls from the standard input; `explain`: say why'],
      ['[call]', 'for `explain`: a command, or a call as JSON (default: list the rules)'],
    ],
    summary: 'decide what a policy allows, without running anything',
    details:
      '`check` reads one call a line, {"tool", "input", "actor"?, "cwd"?}, and answers each with one line,\n' +
      '{"action", "rule", "reason"}, in order. Whatever a line contains, it gets a decision.',
    options: [
      {
        flags: '--policy <file>',
        description: "this policy alone (default: the administrator's, yours, the repository's)",
      },
      { flags: '--root <dir>', description: 'the tree of the actor (default: the current folder)' },
      { flags: '--home <dir>', description: 'the home folder (default: yours)' },
      { flags: '--actor <path>', description: 'for calls that name none' },
      { flags: '--unattended', description: 'nobody can be asked: an ask is a deny' },
    ],
    examples: [
      'troupe policy check --policy policy.yaml < calls.ndjson',
      "troupe policy explain 'git -C /tmp push'",
    ],
    load: () => import('./commands/policy.ts'),
  },
];

const knowing: readonly CommandSpec[] = [
  {
    name: 'skills',
    args: [
      ['<action>', '`list`: which there are; `check`: hold them against the specification'],
      ['[dir]', 'for `check`: a skill or a folder of skills (default: the repository and you)'],
    ],
    summary: 'list the skills that agents can load, or check them',
    details:
      'A skill is a folder with a SKILL.md (https://agentskills.io): .troupe/skills, .agents/skills and .claude/skills of the\n' +
      "repository (once you trust them), yours, and Troupe's own. `check` ends with 2 when one is not as it should be.",
    options: [],
    examples: ['troupe skills list', 'troupe skills check .troupe/skills/release'],
    load: () => import('./commands/skills.ts'),
  },
  {
    name: 'memory',
    args: [['[query]', 'only what fits these words, the best first']],
    summary: 'show what is remembered of the repository: your notes and those of agents',
    details:
      'You write .troupe/memory/MEMORY.md; agents never do. What they note is kept beside the runs, in the file that\n' +
      '`--json` names; edit it while nothing runs, or copy what is worth it into yours.',
    options: [],
    examples: ['troupe memory', "troupe memory 'test database'", 'troupe memory --json'],
    load: () => import('./commands/memory.ts'),
  },
];

/** In the order of `--help`. */
export const COMMANDS: readonly CommandSpec[] = [
  ...starting,
  ...staying,
  ...watching,
  ...deciding,
  ...results,
  ...checking,
  CRON,
  ...permissions,
  ...knowing,
];
