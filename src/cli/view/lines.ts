/** One line per important thing that happened, for output that is no terminal. Pure. */
import { SUPERVISOR, USER } from '../../kernel/ids.ts';
import type { AskChange } from '../../protocol/ask.ts';
import type { HookFact } from '../../protocol/hook.ts';
import type {
  ActorChange,
  RunChange,
  StoredRunRecord,
  TaskChange,
  TeamChange,
} from '../../protocol/record.ts';
import { shortId } from '../text/ask.ts';
import { safeLine } from '../text/safe.ts';
import { fit } from '../text/width.ts';

/** Absolute path of what a command printed, by the id of its process. */
export type OutputOf = (id: string) => string;

/** The whole text is in `tail` and `events`. */
const LINE_MAX = 200;
const GATE_MAX = 100;

/** `<time> <what>`, each with its line end. Steps of the models and housekeeping are left out. */
export function linesOf(record: StoredRunRecord, outputOf: OutputOf): string[] {
  const texts = [
    ...(record.run ?? []).map(runText),
    ...(record.actors ?? []).map(actorText),
    ...(record.tasks ?? []).map(taskText),
    ...(record.team ?? []).map(teamText),
    ...(record.asks ?? []).map(askLine),
    ...(record.hooks ?? []).map(hookLine),
    ...(record.mail ?? []).map((mail) =>
      mail.type === 'chat.message' ? `mail ${mail.from} → ${mail.to}: ${mail.body.text}` : null,
    ),
  ];
  return [
    ...texts.flatMap((text) => (text === null ? [] : [fit(safeLine(text), LINE_MAX)])),
    ...failedOutputs(record).map((id) => `  its output: ${safeLine(outputOf(id))}`),
  ].map((line) => `${record.at} ${line}\n`);
}

/** What waits for a person, for a terminal where nobody can type. */
export function asksOnly(record: StoredRunRecord): string[] {
  return linesOf({ ...pick(record), asks: record.asks ?? [] }, () => '');
}

const pick = ({ s, d, k, at, asks: _asks }: StoredRunRecord) =>
  ({ s, d, k, at }) as StoredRunRecord;

/** What no mail and no call tells any more: the run is over when its last hooks are run. */
export function lastHooks(record: StoredRunRecord): string[] {
  return linesOf({ ...pick(record), hooks: record.hooks ?? [] }, () => '');
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
      return `${change.provider}: its quota is used up; who uses it waits until ${change.until}`;
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

function verdict({ ok, exit }: { readonly ok: boolean; readonly exit: number | null }): string {
  if (ok) return 'passed';
  return `failed (${exit === null ? 'no exit code' : `exit ${exit}`})`;
}

/** Where to read why a gate failed; never cut, since half a path is none. */
function failedOutputs(record: StoredRunRecord): string[] {
  return [...(record.run ?? []), ...(record.tasks ?? [])].flatMap((change) => {
    if (change.type !== 'run.gate' && change.type !== 'task.gate') return [];
    return change.ok || change.output === null ? [] : [change.output];
  });
}
