/** The tools that change a part of a file: `edit_file` once, `multi_edit` several times, all or nothing. */
import { z } from 'zod';
import { EDITS_MAX, WRITE_CHARS_MAX } from './limits.ts';
import { applyEdits, type EditedPlace, editsEffect, type TextEdit } from './text-edit.ts';
import {
  type Effect,
  failed,
  makeTool,
  parameters,
  succeeded,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts';
import { checkPath, explain, locate, readText, readWritten } from './tree-access.ts';

const path = z.string().min(1).describe('Relative to the root of your tree.');
const edit = {
  old_text: z.string().min(1),
  new_text: z.string().max(WRITE_CHARS_MAX),
  replace_all: z.boolean().optional(),
};
const encoder = new TextEncoder();

export const editFileTool: Tool = makeTool({
  name: 'edit_file',
  description:
    'Replaces old_text by new_text in a file of your tree. old_text must be there exactly once, white space included ' +
    '(give enough of its surroundings), unless replace_all is set. Line endings of the file are kept.',
  access: 'write',
  schema: parameters({ path, ...edit }),
  check: (input, context) => checkPath(input.path, 'write', context),
  run: (input, context) => change(input.path, [input], context),
  effect: (input, context) => effectOf(input.path, [input], context),
});

export const multiEditTool: Tool = makeTool({
  name: 'multi_edit',
  description:
    'Makes several replacements in one file of your tree, all of them or none. They are made in order, each on the text ' +
    'as the one before left it; each is as in edit_file.',
  access: 'write',
  schema: parameters({ path, edits: z.array(parameters(edit)).min(1).max(EDITS_MAX) }),
  check: (input, context) => checkPath(input.path, 'write', context),
  run: (input, context) => change(input.path, input.edits, context),
  effect: (input, context) => effectOf(input.path, input.edits, context),
});

interface GivenEdit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean | undefined;
}

async function change(
  given: string,
  edits: readonly GivenEdit[],
  context: ToolContext,
): Promise<ToolOutcome> {
  const file = await locate(given, 'write', context);
  if (!file.ok) return failed(file.reason);
  const before = await readText(file, { exact: true });
  if (!before.ok) return failed(before.reason);
  const after = applyEdits(before.text, edits.map(textEdit));
  if (!after.ok) {
    const which =
      edits.length === 1 ? '' : `nothing was changed, edits[${after.index}] can not be made: `;
    return failed(`${file.path}: ${which}${after.reason}`);
  }
  try {
    await file.tree.write(file.real, encoder.encode(after.content));
  } catch (error) {
    return failed(await explain(error, file));
  }
  return succeeded(`edited ${file.path} ${placesText(after.places)}`);
}

async function effectOf(
  given: string,
  edits: readonly GivenEdit[],
  context: ToolContext,
): Promise<Effect> {
  const file = await readWritten(given, context);
  return file.ok ? editsEffect(file.text, edits.map(textEdit)) : 'unknown';
}

function textEdit({ old_text, new_text, replace_all }: GivenEdit): TextEdit {
  return { oldText: old_text, newText: new_text, all: replace_all ?? false };
}

function placesText(places: readonly EditedPlace[]): string {
  const each = places.map(({ count, line }) =>
    count === 1 ? `at line ${line}` : `in ${count} places`,
  );
  return each.join(', ');
}
