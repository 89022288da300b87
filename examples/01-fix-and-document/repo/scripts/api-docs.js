// Writes docs/api.md from the comments above the functions that src/index.js exports.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const exported = [...read('src/index.js').matchAll(/export \{ (\w+) \} from '\.\/(.+)';/g)];

const sections = exported
  .map(([, name, file]) => {
    const pattern = new RegExp(
      `/\\*\\*\\n((?: \\*.*\\n)+?) \\*/\\nexport function ${name}\\((.*)\\)`,
    );
    const found = pattern.exec(read(`src/${file}`));
    if (found === null) throw new Error(`src/${file}: ${name} has no comment`);
    const [, comment = '', parameters = ''] = found;
    const lines = comment.split('\n').map((line) => line.replace(/^ \* ?/, ''));
    const text = lines.filter((line) => !line.startsWith('@')).join('\n');
    const types = lines.filter((line) => line.startsWith('@')).map(item);
    return { name, body: `## ${name}(${parameters})\n\n${text.trim()}\n\n${types.join('\n')}\n` };
  })
  .toSorted((a, b) => a.name.localeCompare(b.name));

/** `@param {string} text what is cut` becomes `- text: string, what is cut`. */
function item(tag) {
  const [, type, rest] = /^@\w+ \{(.+?)\} ?(.*)$/.exec(tag) ?? [];
  if (tag.startsWith('@returns')) return `- returns \`${type}\`${rest === '' ? '' : `: ${rest}`}`;
  const [name, ...note] = rest.split(' ');
  return `- \`${name}\`: \`${type}\`${note.length === 0 ? '' : `, ${note.join(' ')}`}`;
}

mkdirSync(new URL('../docs/', import.meta.url), { recursive: true });
const page = `# API\n\n${sections.map((section) => section.body).join('\n')}`;
writeFileSync(new URL('../docs/api.md', import.meta.url), page);
process.stdout.write(`docs/api.md: ${sections.map((section) => section.name).join(', ')}\n`);
