/**
 * What waits for a person and what was granted, read from the journals beside their writer. Answers go to the supervisor
 * that holds the run: nobody else can take them.
 */
import { readJournal } from '../journal/index.ts';
import { fromErrorShape, type TroupeError } from '../kernel/errors.ts';
import { checkAnswer } from '../permissions/index.ts';
import type { AskRow, Grant, GrantRow } from '../protocol/ask.ts';
import { wholeInput } from '../sessions/index.ts';
import { askRows, GrantBook, grantRows, refusalOfAnswer } from '../supervisor/index.ts';
import { errors } from './errors.ts';
import { blobsOf } from './payloads.ts';
import { viewNewest, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** Of a run, by default the newest; empty without a run, and of one that has ended. */
export async function listApprovals(
  workspace: Workspace,
  run: string | undefined,
): Promise<readonly AskRow[]> {
  const view =
    run === undefined ? await viewNewest(workspace) : await viewRun(workspace, run, 'approvals');
  if (view === null || view.state.run.ended !== null) return [];
  const blobs = blobsOf(workspace, view.run);
  const rows: AskRow[] = [];
  for (const row of askRows(view.state)) {
    // Whoever answers sees all of it (M8).
    rows.push(row.blob === undefined ? row : { ...row, input: await wholeInput(blobs, row) });
  }
  return view.redactor.data(rows);
}

/** The input of an ask as its call has it, however large (M8). */
export async function askedInput(workspace: Workspace, row: AskRow): Promise<unknown> {
  return row.blob === undefined ? row.input : wholeInput(blobsOf(workspace, row.run), row);
}

/** An answer that comes when nobody holds the run any more: who was first, if somebody was. */
export async function lateAnswer(
  workspace: Workspace,
  ask: { readonly run: string | undefined; readonly id: string },
): Promise<TroupeError> {
  const view =
    ask.run === undefined
      ? await viewNewest(workspace)
      : await viewRun(workspace, ask.run, 'approvals');
  if (view === null) return errors.noRun('approvals');
  const check = checkAnswer(view.state.asks, ask.id, null);
  return check.kind === 'ended' || check.kind === 'unknown'
    ? fromErrorShape(refusalOfAnswer(check, ask.id))
    : errors.notHeld(view.run);
}

/** Of the workspace, and of the newest run. */
export async function listGrants(workspace: Workspace): Promise<readonly GrantRow[]> {
  const view = await viewNewest(workspace);
  const ofRun = view === null ? [] : view.state.asks.grants.values();
  const grants = [...(await readGrants(workspace)), ...ofRun];
  const rows = grantRows(grants, workspace.deps.clock.now());
  return (await workspace.redactor()).data(rows);
}

async function readGrants(workspace: Workspace): Promise<Grant[]> {
  const { files, clock } = workspace.deps;
  const book = new GrantBook(clock);
  const directory = `${workspace.places.state}/workspace/journal`;
  if ((await files.stat(directory)) === null) return [];
  for await (const record of readJournal({ files, directory, onGap: () => undefined })) {
    book.take(record);
  }
  return [...book.grants.values()];
}

export function unknownGrant(id: string, known: readonly Grant[]): TroupeError {
  return errors.unknownGrant(
    id,
    known.map((grant) => grant.id),
  );
}
