/** One line per important thing that happened, for output that is no terminal. Pure. */
import type { ActorChange, RunChange, StoredRunRecord, TaskChange } from '../../protocol/record.ts';
import { safeLine } from '../text/safe.ts';
import { fit } from '../text/width.ts';

/** The whole text is in `tail` and `events`. */
const LINE_MAX = 200;

/** `<time> <what>`, each with its line end. Steps of the models and housekeeping are left out. */
export function linesOf(record: StoredRunRecord): string[] {
  const texts = [
    ...(record.run ?? []).map(runText),
    ...(record.actors ?? []).map(actorText),
    ...(record.tasks ?? []).map(taskText),
    ...(record.mail ?? []).map((mail) =>
      mail.type === 'chat.message' ? `mail ${mail.from} → ${mail.to}: ${mail.body.text}` : null,
    ),
  ];
  return texts.flatMap((text) =>
    text === null ? [] : [`${record.at} ${fit(safeLine(text), LINE_MAX)}\n`],
  );
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
      return `final gate ${change.gate}: ${verdict(change)}`;
    case 'run.warned':
      return `warning: ${change.text}`;
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

function taskText(change: TaskChange): string | null {
  switch (change.type) {
    case 'task.added':
      // Those of the team file are no news.
      return change.by === 'user' ? null : `task ${change.task.id} added by ${change.by}`;
    case 'task.claimed':
      return `task ${change.id} started by ${change.by} (try ${change.attempt})`;
    case 'task.finished':
      return `task ${change.id} finished by ${change.by}: ${change.summary}`;
    case 'task.gate':
      return `task ${change.id} gate ${change.gate}: ${verdict(change)}`;
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

function verdict(gate: {
  readonly ok: boolean;
  readonly exit: number | null;
  readonly output: string | null;
}): string {
  if (gate.ok) return 'passed';
  const where = gate.output === null ? '' : `, see outputs/${gate.output}.log`;
  return `failed (${gate.exit === null ? 'no exit code' : `exit ${gate.exit}`}${where})`;
}
