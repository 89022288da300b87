/** `troupe session ACTOR`: what an actor was told, what it said, what it called, and what came of it. */
import { followTranscript, readTranscript, type SessionRow, viewRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { ContentBlock, MailItem } from '../../protocol/session.ts';
import { totalTokens, type Usage } from '../../protocol/usage.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag, text } from '../options.ts';
import { safeText } from '../text/safe.ts';
import type { Styles } from '../text/style.ts';
import { money } from '../text/time.ts';
import { untilStopped } from '../until-stopped.ts';
import { TODO_MARKS } from '../view/task.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [actor = ''] = args;
  const workspace = await context.workspace();
  const view = await viewRun(workspace, text(options, 'run'), 'session');
  const { styles } = context;
  if (flag(options, 'follow')) {
    return untilStopped(context.io, async (signal) => {
      for await (const row of followTranscript(workspace, view, { actor, signal })) {
        if (context.json) context.printJson(row);
        else context.print(renderRow(row, styles));
      }
    });
  }
  const answer = await readTranscript(workspace, view, actor);
  if (context.json) {
    context.printJson(answer);
    return EXIT.ok;
  }
  if (answer.entries.length === 0) context.print(`${actor} has said and heard nothing yet.\n`);
  for (const row of answer.entries) context.print(renderRow(row, styles));
  const own = [
    ...answer.notes.map((note) => `note: ${note}`),
    ...answer.todo.map((item) => `[${TODO_MARKS[item.state]}] ${item.text}`),
  ];
  if (own.length > 0) context.print(`${styles.bold('Kept for itself')}\n${indent(own.join('\n'))}`);
  const answers = answer.entries.filter((row) => row.type === 'answer').length;
  context.print(styles.dim(`${answers} answers, ${spent(answer.usage)} in run ${view.run}\n`));
  return EXIT.ok;
}

/** A head line with time and what it is, then the text, indented. */
export function renderRow(row: SessionRow, styles: Styles): string {
  const time = styles.dim(row.at);
  switch (row.type) {
    case 'mail':
      return row.items.map((item) => `${time} ${renderLetter(item, styles)}`).join('');
    case 'answer': {
      const stop = row.stop === 'end' || row.stop === 'calls' ? '' : ` [${row.stop}]`;
      const task = row.task === null ? '' : ` (${row.task})`;
      const head = `${time} ${styles.bold('answer')}${task} ${row.model}${stop}`;
      const body = row.content.map(renderBlock).join('\n');
      return `${head} ${styles.dim(spent(row.usage))}\n${indent(body)}`;
    }
    case 'result': {
      const ok = row.ok ? styles.green('ok') : styles.red(row.interrupted ?? 'failed');
      const whole = row.output === undefined ? '' : ` (whole: ${row.output})`;
      return `${time} ${styles.bold(`result of ${row.tool}`)} ${ok}${whole}\n${indent(row.text)}`;
    }
    case 'compaction': {
      const head = `${row.turns} turns compacted (${row.cause}, by ${row.by}): ${row.before} → ${row.after} tokens`;
      return `${time} ${styles.yellow(head)} ${styles.dim(spent(row.usage))}\n${indent(row.summary)}`;
    }
  }
}

function renderLetter(item: MailItem, styles: Styles): string {
  const task = item.task === undefined ? '' : ` (${item.task})`;
  return `${styles.bold(`mail from ${item.from}`)} ${item.type}${task}\n${indent(item.text)}`;
}

function renderBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  return `→ ${block.name} ${JSON.stringify(block.input) ?? ''}`;
}

function indent(body: string): string {
  const safe = safeText(body).trimEnd();
  return safe === '' ? '' : `    ${safe.replaceAll('\n', '\n    ')}\n`;
}

function spent(usage: Usage): string {
  return `${totalTokens(usage)} tokens, ${money(usage)}`;
}
