/** The manifest: every type of event, whether it is durable, and what it is about. */
import type { AskChange } from '../protocol/ask.ts';
import type { RunCronChange } from '../protocol/cron.ts';
import type {
  ActorChange,
  ProcChange,
  RunChange,
  TaskChange,
  TeamChange,
  TreeChange,
} from '../protocol/record.ts';

export type EventType =
  | TaskChange['type']
  | ActorChange['type']
  | RunChange['type']
  | TreeChange['type']
  | ProcChange['type']
  | TeamChange['type']
  | AskChange['type']
  | RunCronChange['type']
  | 'answer.committed'
  | 'spend.settled'
  | 'call.ended'
  | 'session.compacted'
  | 'decision.made'
  | 'hook.said'
  | 'mail.accepted'
  | 'mail.seen'
  | 'mail.dead'
  | 'mail.retried'
  | 'mail.dropped'
  | 'live.text'
  | 'live.thinking'
  | 'live.tooling'
  | 'live.reset'
  | 'gap';

export interface EventInfo {
  /** Derived from a record, with a cursor of its own; else live only, and may be dropped. */
  readonly durable: boolean;
  readonly about: string;
}

const durable = (about: string): EventInfo => ({ durable: true, about });
const live = (about: string): EventInfo => ({ durable: false, about });

export const EVENT_TYPES: Readonly<Record<EventType, EventInfo>> = {
  'run.started': durable('The run began, at this base commit.'),
  'run.resumed': durable('A supervisor took the run up again; the term rises.'),
  'run.stop-requested': durable('Somebody asked the run to stop; `now` is without grace.'),
  'run.interrupted': durable('The run stopped with work left.'),
  'run.gate': durable('A finishing gate ran on the integration branch.'),
  'run.warned': durable('Nine tenths of a budget or a limit are used; `scope` says of which.'),
  'quota.hit': durable(
    'The quota behind a provider is used up, or it does not answer (`down`); nobody asks it before `until`.',
  ),
  'quota.over': durable('The provider is asked again.'),
  'spend.settled': durable('A request that gave no answer has cost this, as far as is known.'),
  'policy.loaded': durable('Calls are judged by these layers from now on, under this revision.'),
  'policy.alert': durable('A policy file can’t be used any more; it allows nothing until it can.'),
  'run.alarm': durable(
    'The self-check found a fault of Troupe itself: work is ready and nothing was begun.',
  ),
  'run.ended': durable('The run ended, with its state and reason.'),
  'actor.added': durable('An actor became known, with its profile and parent.'),
  'actor.started': durable('An actor got a thread: a new incarnation, or a wake-up.'),
  'actor.passivated': durable('An idle actor gave up its thread; mail wakes it.'),
  'actor.ended': durable('An incarnation finished, stopped or crashed, with the reason.'),
  'task.added': durable('A task joined the graph.'),
  'task.claimed': durable('An actor holds the task; the fence is the sequence of the record.'),
  'task.tree': durable('The task has a tree and a branch.'),
  'task.finished': durable('The worker says that it is done; the gates decide.'),
  'task.committed': durable('The runtime committed the tree of the task.'),
  'task.gate': durable('A gate ran on the commit of the task.'),
  'task.verified': durable('All gates passed; the task waits to be merged.'),
  'task.released': durable('The claim ended without the task; it can be claimed again.'),
  'task.merging': durable('The integration branch is about to move.'),
  'task.done': durable('The task is done, and merged when it changed something.'),
  'task.reopened': durable(
    'A person has put a failed task in order; it is verified and merged once more.',
  ),
  'task.failed': durable('The task failed for good, with the reason.'),
  'task.cancelled': durable('The task was cancelled, with the reason.'),
  'tree.added': durable('A tree was made.'),
  'tree.saved': durable('Work of a tree was saved under a ref.'),
  'tree.removed': durable('A tree was removed.'),
  'proc.started': durable('A process was started.'),
  'proc.ended': durable('A process ended; `left` names what could not be ended.'),
  'review.asked': durable('A reviewer looks at the diff of a task, for a gate.'),
  'review.decided': durable('A reviewer has approved or rejected the diff.'),
  'plan.requested': durable('An actor was asked for a plan; `binds`: it changes nothing before.'),
  'plan.overdue': durable('A plan that was asked for did not come in time; both were told.'),
  'plan.proposed': durable('A plan was submitted, and to whom.'),
  'plan.decided': durable('A plan was approved or rejected, by whom and with which words.'),
  'plan.closed': durable('A plan expired without a word, or a newer one took its place.'),
  'plan.told': durable('Who waits for a plan that will not come was told.'),
  'shutdown.requested': durable('An actor was asked to shut down, by whom and why.'),
  'shutdown.answered': durable('It answered: working, ready or refused.'),
  'shutdown.forced': durable('It did not end in time and is ended by force.'),
  'subagent.background': durable('The answer of this subagent goes to its parent by mail.'),
  'cron.added': durable('An actor made a job; `durable`: it outlives the run.'),
  'cron.fired': durable('A job of the run was due, and its prompt went to its actor.'),
  'cron.skipped': durable('Slots of a job were not fired, with the reason.'),
  'cron.ended': durable('A job of the run is over, with the reason.'),
  'answer.committed': durable('A model answer was recorded: its text, calls and usage.'),
  'call.ended': durable('A tool call has its result.'),
  'session.compacted': durable(
    'A summary stands for the older part of a conversation; tokens before and after.',
  ),
  'decision.made': durable('A mutating call was judged, and by which rule.'),
  'hook.said': durable('A hook looked at something: what it said, or that it failed.'),
  'ask.put': durable('A call waits for a person; its id and digest are what an answer names.'),
  'ask.joined': durable('Another actor asks the same: one answer serves both.'),
  'ask.warned': durable('The time of an ask is nearly over.'),
  'ask.renewed': durable('An ask has a new deadline, since nobody could answer.'),
  'ask.answered': durable('An ask was allowed or denied, by whom and for how long.'),
  'ask.timed-out': durable('Nobody answered an ask in time: it is denied.'),
  'ask.withdrawn': durable('A call does not wait any more, with the reason.'),
  'ask.superseded': durable('An ask is void: what it asked about is not so any more.'),
  'ask.used': durable('The answer of an ask reached this call.'),
  'grant.given': durable('A person allowed something from now on.'),
  'grant.kept': durable('A grant of the workspace is in its journal.'),
  'grant.used': durable('A call was allowed by a grant; told at most once an hour.'),
  'grant.revoked': durable('A grant was taken back.'),
  'actor.paused': durable('An actor was denied too often, and waits until somebody writes to it.'),
  'actor.unpaused': durable('A paused actor goes on.'),
  'mail.accepted': durable('An envelope is durable.'),
  'mail.seen': durable('The answer to a request with this envelope was recorded.'),
  'mail.dead': durable('An envelope can’t be delivered, with the reason.'),
  'mail.retried': durable('A dead letter is to be delivered again.'),
  'mail.dropped': durable('A dead letter was given up.'),
  'live.text': live('A fragment of an answer; its whole comes with `answer.committed`.'),
  'live.thinking': live('The model was asked, or a fragment of its thinking.'),
  'live.tooling': live('A tool of the thread runs.'),
  'live.reset': live('What was shown of this answer is void: it is asked for again, and why.'),
  gap: live('Events were dropped for this subscriber, from one cursor to another.'),
};
