/** The plans of a run, with their whole texts where they wait for a decision. */
import { wholeText } from '../journal/index.ts';
import type { PlanRow } from '../protocol/shapes.ts';
import { type PlanRowOf, planRows } from '../supervisor/index.ts';
import { blobsOf } from './payloads.ts';
import type { RunView } from './queries.ts';
import type { Workspace } from './workspace.ts';

/** Oldest first. */
export function plansOf(workspace: Workspace, view: RunView): Promise<PlanRow[]> {
  return wholePlans(workspace, view.run, planRows(view.state));
}

/** Large texts are read from where the record says that they lie (M8). */
export async function wholePlans(
  workspace: Workspace,
  run: string,
  rows: readonly PlanRowOf[],
): Promise<PlanRow[]> {
  const blobs = blobsOf(workspace, run);
  const redactor = await workspace.redactor();
  const whole: PlanRow[] = [];
  for (const { payload, ...row } of rows) {
    const isWhole = payload === null || row.state !== 'proposed';
    const text = isWhole ? row.text : await wholeText(blobs, { text: row.text, ...payload });
    whole.push(redactor.data({ ...row, text }));
  }
  return whole;
}
