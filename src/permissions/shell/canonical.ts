/**
 * The text that is run when a rule allows a command: built anew from the tree, each word single-quoted, operators explicit,
 * comments gone. Where the parser was mistaken about a word, the mistake becomes a harmless word.
 *
 * Invariants
 * - P14 Only for a reading without doubts; what is not in the plain subset gives null.
 */
import type { Assignment, Command, HereDoc, PipelineNode, Redirect, Statement, Word } from 'unbash';
import { shellQuoted } from '../../kernel/shell-word.ts';
import { bareArg } from './arg.ts';
import type { Reading } from './reading.ts';
import type { ShellRead } from './walk.ts';

interface Printer {
  readonly reading: Reading;
  text: string;
  /** Bodies that follow the line. */
  bodies: string[];
  count: number;
}

export function canonicalText({ reading, script }: ShellRead): string | null {
  if (script === null || reading.doubts.length > 0) return null;
  const printer: Printer = { reading, text: '', bodies: [], count: 0 };
  try {
    printList(printer, script.commands);
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
  // A text of comments alone does nothing, and stays one.
  return printer.text === '' ? '#\n' : printer.text;
}

class NotPlain extends Error {}

function printList(printer: Printer, list: readonly Statement[]): void {
  for (const statement of list) {
    if (statement.background === true) throw new NotPlain();
    printNode(printer, statement.command);
    newline(printer);
  }
}

function newline(printer: Printer): void {
  printer.text += `\n${printer.bodies.join('')}`;
  printer.bodies = [];
}

function printNode(printer: Printer, node: Statement['command'] | PipelineNode): void {
  if (node.type === 'AndOr' || node.type === 'Pipeline') {
    if (node.type === 'Pipeline' && node.prefixes.length > 0) throw new NotPlain();
    for (const [index, command] of node.commands.entries()) {
      if (index > 0) printer.text += ` ${node.operators[index - 1] ?? ''} `;
      printNode(printer, command);
    }
  } else if (node.type === 'Command') printCommand(printer, node);
  else if (node.type === 'Redirected') {
    printNode(printer, node.command);
    for (const redirect of node.redirects) {
      printer.text += ' ';
      if (redirect.type === 'HereString') throw new NotPlain();
      printRedirect(printer, redirect);
    }
  } else if (node.type === 'Subshell') {
    printer.text += '(';
    newline(printer);
    printList(printer, node.body.commands);
    printer.text += ')';
  } else throw new NotPlain();
}

function printCommand(printer: Printer, node: Command): void {
  const parts = [...node.prefix, ...(node.name === undefined ? [] : [node.name]), ...node.suffix];
  for (const [index, part] of parts.entries()) {
    if (index > 0) printer.text += ' ';
    if (part.type === 'Word') printer.text += wordText(printer, part);
    else if (part.type === 'Assignment') printAssignment(printer, part);
    else if (part.type === 'HereString') throw new NotPlain();
    else printRedirect(printer, part);
  }
}

function wordText(printer: Printer, word: Word): string {
  const arg = bareArg(word) ?? printer.reading.args?.get(word);
  if (arg === undefined || !arg.plain) throw new NotPlain();
  return arg.shell;
}

function printAssignment(printer: Printer, part: Assignment): void {
  if (part.index !== undefined || part.append === true || part.value.type !== 'Word')
    throw new NotPlain();
  printer.text += `${part.name}=${wordText(printer, part.value)}`;
}

function printRedirect(printer: Printer, redirect: Redirect | HereDoc): void {
  const { descriptor } = redirect;
  if (descriptor?.type === 'FileDescriptorVariable') throw new NotPlain();
  const fd = descriptor === undefined ? '' : String(descriptor.value);
  if (redirect.type === 'Redirect') {
    if (redirect.target === undefined) throw new NotPlain();
    printer.text += `${fd}${redirect.operator}${wordText(printer, redirect.target)}`;
    return;
  }
  const body =
    redirect.operator === '<<-' ? redirect.body.text.replaceAll(/^\t+/gm, '') : redirect.body.text;
  const end = endMark(printer, body);
  printer.text += `${fd}<<${shellQuoted(end)}`;
  printer.bodies.push(`${body}${body === '' || body.endsWith('\n') ? '' : '\n'}${end}\n`);
}

/** A line that does not stand in the body. */
function endMark(printer: Printer, body: string): string {
  const lines = new Set(body.split('\n'));
  do printer.count += 1;
  while (lines.has(`END_${printer.count}`));
  return `END_${printer.count}`;
}
