#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { makeNotes } from './notes.js';

const FILE = 'notes.json';

const commands = {
  add(notes, [text = '']) {
    const note = notes.add(text);
    return `${note.id}  ${note.text}`;
  },
  list: (notes) =>
    notes
      .all()
      .map((note) => `${note.id}  ${note.text}`)
      .join('\n'),
};

const [name = 'list', ...args] = process.argv.slice(2);
const notes = makeNotes(existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : []);
const command = commands[name];
if (command === undefined) {
  process.stderr.write(`jot: there is no command ${name}\n`);
  process.exitCode = 2;
} else {
  process.stdout.write(`${command(notes, args)}\n`);
  writeFileSync(FILE, `${JSON.stringify(notes.all(), null, 2)}\n`);
}
