/** An actor's transcript as people and scripts see it, read from the journal beside its writer. */
import type { Redactor } from '../events/index.ts';
import { asActorName } from '../kernel/ids.ts';
import type { PlacedEntry, SessionEntry } from '../protocol/session.ts';
import { NO_USAGE } from '../protocol/usage.ts';
import type { SessionAnswer, SessionRow } from '../protocol/views.ts';
import { currentChapter, ownNotes, readSession, wholeEntry } from '../sessions/index.ts';
import { errors } from './errors.ts';
import { actorNames, followRun } from './mail.ts';
import { blobsOf } from './payloads.ts';
import { journalFolder } from './places.ts';
import type { RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

export type { SessionAnswer, SessionRow } from '../protocol/views.ts';

/** Throws `control/unknown-actor`. */
export async function readTranscript(
  workspace: Workspace,
  view: RunView,
  actor: string,
): Promise<SessionAnswer> {
  checkName(view, actor);
  const { redactor } = view;
  const name = asActorName(actor);
  const entries = await readSession({
    files: workspace.deps.files,
    directory: journalFolder(workspace.places, view.run),
    actor: name,
    upTo: view.state.lastSeq,
    blobs: blobsOf(workspace, view.run),
  });
  const kind = view.state.actors.byName.get(name)?.kind ?? 'lead';
  const { todo, notes } = ownNotes(currentChapter(entries, kind));
  return {
    run: view.run,
    actor,
    ...redactor.data({ todo, notes }),
    usage: view.state.usage.byActor.get(name) ?? NO_USAGE,
    entries: entries.map((entry) => rowOf(entry, redactor)),
  };
}

/** What is there, then each entry as it is recorded; ends with the run, or when the signal aborts. */
export async function* followTranscript(
  workspace: Workspace,
  view: RunView,
  what: { readonly actor: string; readonly signal: AbortSignal },
): AsyncGenerator<SessionRow> {
  checkName(view, what.actor);
  const blobs = blobsOf(workspace, view.run);
  for await (const record of followRun(workspace, view.run, what.signal)) {
    if (record.a !== what.actor) continue;
    for (const entry of record.entries ?? []) {
      const whole = await wholeEntry(blobs, entry);
      yield rowOf({ seq: record.s, at: record.at, entry: whole }, view.redactor);
    }
  }
}

function checkName(view: RunView, actor: string): void {
  const known = actorNames(view);
  if (!known.includes(actor)) throw errors.unknownActor(actor, known);
}

/** What only a provider understands is left out. */
function rowOf({ seq, at, entry }: PlacedEntry, redactor: Redactor): SessionRow {
  const shown = entry.type === 'answer' ? withoutMeta(entry) : entry;
  return { seq, at, ...redactor.data(shown) };
}

function withoutMeta({
  meta: _meta,
  ...answer
}: Extract<SessionEntry, { type: 'answer' }>): SessionEntry {
  return answer;
}
