/** One line per important thing that happened, for output that is no terminal. Pure. */
import { SUPERVISOR, USER } from '../../kernel/ids.ts';
import type { AskChange } from '../../protocol/ask.ts';
import type { Envelope } from '../../protocol/envelope.ts';
import type { TroupeEvent } from '../../protocol/event.ts';
import type { HookFact } from '../../protocol/hook.ts';
import type { ActorChange, RunChange, TaskChange, TeamChange } from '../../protocol/record.ts';
import { shortId } from '../text/ask.ts';
import { safeLine } from '../text/safe.ts';
import { fit } from '../text/width.ts';

/** Absolute path of what a command printed, by the id of its process. */
export type OutputOf = (id: string) => string;

/** The whole text is in `tail` and `events`. */
const LINE_MAX = 200;
const GATE_MAX = 100;

/** `<time> <what>`, each with its line end. Steps of the models and housekeeping are left out. */
export function linesOf(event: TroupeEvent, outputOf: OutputOf): string[] {
  const text = textOf(event);
  if (text === null) return [];
  const lines = [fit(safeLine(text), LINE_MAX)];
  const output = failedOutput(event);
  // Never cut, since half a path is none.
  if (output !== null) lines.push(`  its output: ${safeLine(outputOf(output))}`);
  return lines.map((line) => `${event.at} ${line}\n`);
}

/** What waits for a person, for a terminal where nobody can type. */
export function asksOnly(event: TroupeEvent): string[] {
  return OF_ASKS.test(event.type) ? linesOf(event, () => '') : [];
}

const OF_RUN = /^(run|policy|quota)\./;
const OF_ASKS = /^(ask|grant)\.|^actor\.(un)?paused$/;
const OF_TEAM = /^(plan|shutdown|subagent)\./;
const OF_ACTORS = /^actor\.(added|ended)$/;

/** An event of `eventsOf` is a change of a record under another roof: its fields are those of the change. */
function textOf({ type, actor, task, data }: TroupeEvent): string | null {
  if (type === 'mail.accepted') return mailText(data as unknown as MailChange);
  if (OF_ASKS.test(type)) return askLine({ type, actor, ...data } as unknown as AskChange);
  if (OF_RUN.test(type)) return runText({ type, ...data } as unknown as RunChange);
  if (OF_TEAM.test(type)) return teamText({ type, ...data } as unknown as TeamChange);
  if (OF_ACTORS.test(type)) {
    return actorText({ type, name: actor, ...data } as unknown as ActorChange);
  }
  if (type === 'hook.said') return hookLine(data as unknown as HookFact);
  if (type === 'task.added') {
    return taskText({ type, by: actor, task: { id: task, ...data } } as unknown as TaskChange);
  }
  if (type.startsWith('task.'))
    return taskText({ type, id: task, ...data } as unknown as TaskChange);
  return null;
}

type MailChange = Pick<Envelope, 'type' | 'from' | 'to' | 'body'>;

function mailText(mail: MailChange): string | null {
  return mail.type === 'chat.message' ? `mail ${mail.from} → ${mail.to}: ${mail.body.text}` : null;
}

/** What no mail and no call tells any more: the run is over when its last hooks are run. */
export function lastHooks(event: TroupeEvent): string[] {
  return event.type === 'hook.said' ? linesOf(event, () => '') : [];
}

function hookLine({ on, hook, outcome, reason }: HookFact): string | null {
  if (on !== 'run_finished' || outcome !== 'failed') return null;
  return `the hook ${hook} (${on}) failed: ${reason ?? 'it gave no reason'}`;
}

/** What waits for a person says at once how to answer: this terminal can't. */
function askLine(change: AskChange): string | null {
  switch (change.type) {
    case 'ask.put': {
      const { ask, waiter } = change;
      const id = shortId(ask.id);
      const what = ask.touches.join('; ');
      return `${waiter.actor} asks to use ${ask.tool}: troupe approve ${id} | troupe deny ${id} | troupe approvals (${what})`;
    }
    case 'ask.warned':
      return `ask ${shortId(change.id)} is denied soon, since nobody has answered: troupe approvals`;
    case 'ask.answered':
      return `ask ${shortId(change.id)} ${change.effect === 'allow' ? 'allowed' : 'denied'} by ${change.by}${change.reason === null ? '' : `: ${change.reason}`}`;
    case 'ask.timed-out':
      return `ask ${shortId(change.id)} denied: nobody answered in time`;
    case 'actor.paused':
      return `${change.actor} is paused: ${change.text}`;
    case 'ask.joined':
    case 'ask.renewed':
    case 'ask.withdrawn':
    case 'ask.superseded':
    case 'ask.used':
    case 'grant.given':
    case 'grant.kept':
    case 'grant.used':
    case 'grant.revoked':
    case 'actor.unpaused':
      return null;
  }
}

function runText(change: RunChange): string | null {
  switch (change.type) {
    case 'run.started':
      return `run ${change.run} started at ${change.baseCommit.slice(0, 12)}`;
    case 'run.resumed':
      return `run resumed (term ${change.term})`;
    case 'run.stop-requested':
      return `stop asked by ${change.by}${change.now ? ', at once' : ''}`;
    case 'run.interrupted':
      return `run interrupted: ${change.text}`;
    case 'run.gate':
      return `final gate ${shownGate(change.gate)}: ${verdict(change)}`;
    case 'policy.loaded':
      return change.first ? null : `policy read again: revision ${change.revision}`;
    case 'policy.alert':
      return `warning: policy: ${change.text}; until it is mended, it allows nothing by itself`;
    case 'run.warned':
      return `warning: ${change.text}`;
    case 'run.alarm':
      return `alarm: ${change.text}`;
    case 'quota.hit':
      return `${change.provider}: ${change.down === undefined ? 'its quota is used up' : 'it does not answer'}; who uses it waits until ${change.until}`;
    case 'quota.over':
      return `${change.provider} is asked again`;
    case 'run.ended':
      return `run ${change.state}${change.reason === null ? '' : `: ${change.reason.text}`}`;
  }
}

function actorText(change: ActorChange): string | null {
  if (change.type === 'actor.added') return `${change.name} joined as ${change.kind}`;
  if (change.type === 'actor.ended' && change.end.kind === 'crashed') {
    return `${change.name} crashed: ${change.end.text}`;
  }
  return null;
}

/** Plans and shutdowns; a plan for a person says what to type. */
function teamText(change: TeamChange): string | null {
  switch (change.type) {
    case 'plan.proposed': {
      const about = change.task === null ? '' : ` for task ${change.task}`;
      const how = change.to === USER ? ' (troupe plans)' : '';
      return `${change.by} submits ${change.id}${about} to ${change.to}${how}`;
    }
    case 'plan.decided':
      return `${change.id} ${change.approve ? 'approved' : 'rejected'} by ${change.by}`;
    case 'plan.closed':
      return change.why === 'expired' ? `${change.id} has expired without a decision` : null;
    case 'shutdown.requested':
      return `${change.by} asks ${change.name} to shut down`;
    case 'shutdown.answered':
      return `${change.name} answers the shutdown: ${change.answer}`;
    case 'shutdown.forced':
      return `${change.name} is shut down by force`;
    case 'review.asked':
      return `${change.by} reviews task ${change.task}`;
    case 'review.decided':
      return `${change.id} ${change.approve ? 'approved' : 'rejected'} by ${change.by}`;
    case 'plan.requested':
      return `${change.by} asks ${change.from} for a plan`;
    case 'plan.overdue':
    case 'plan.told':
    case 'subagent.background':
      return null;
  }
}

function taskText(change: TaskChange): string | null {
  switch (change.type) {
    case 'task.added':
      // Those of the team file are no news.
      return change.by === 'user' ? null : `task ${change.task.id} added by ${change.by}`;
    case 'task.claimed':
      return `task ${change.id} started ${startedBy(change)}`;
    case 'task.finished':
      return `task ${change.id} finished${change.by === SUPERVISOR ? '' : ` by ${change.by}`}: ${change.summary}`;
    case 'task.gate':
      return `task ${change.id} gate ${shownGate(change.gate)}: ${verdict(change)}`;
    case 'task.reopened':
      return `task ${change.id} goes on with the work of ${change.by}`;
    case 'task.released':
      return `task ${change.id} goes back: ${change.reason.text}`;
    case 'task.done':
      return `task ${change.id} done${change.commit === null ? '' : ` in ${change.commit.slice(0, 12)}`}`;
    case 'task.failed':
      return `task ${change.id} failed: ${change.reason.text}`;
    case 'task.cancelled':
      return `task ${change.id} cancelled: ${change.reason.text}`;
    case 'task.tree':
    case 'task.committed':
    case 'task.verified':
    case 'task.merging':
      return null;
  }
}

function startedBy({ by, attempt }: Extract<TaskChange, { type: 'task.claimed' }>): string {
  const again = attempt > 1 ? `try ${attempt}` : null;
  if (by !== SUPERVISOR) return `by ${by}${again === null ? '' : ` (${again})`}`;
  return `(${['command', again].filter((part) => part !== null).join(', ')})`;
}

/** Scripts are gates, too; what came of it must still be on the line. */
const shownGate = (gate: string): string => fit(safeLine(gate), GATE_MAX);

function verdict({
  ok,
  exit,
  tries,
  text,
}: Pick<Extract<TaskChange, { type: 'task.gate' }>, 'ok' | 'exit' | 'tries' | 'text'>): string {
  // Passed, but not at once: it is a flaky gate.
  if (ok) return tries > 1 && text === undefined ? `passed (on try ${tries})` : 'passed';
  if (text !== undefined) return `not approved: ${text}`;
  return `failed (${exit === null ? 'no exit code' : `exit ${exit}`})`;
}

/** Where to read why a gate failed. */
function failedOutput({ type, data }: TroupeEvent): string | null {
  if (type !== 'run.gate' && type !== 'task.gate') return null;
  const { ok, output } = data;
  return ok === true || typeof output !== 'string' ? null : output;
}
