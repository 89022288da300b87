import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserConfig } from 'tsdown';

// The entries of threads once more, each with all that it needs at its start in one file: loading some hundred modules
// took a thread six times as long as starting it. What is imported when it is used (SDKs of providers) stays apart.
const config: UserConfig = {
  entry: ['src/main/threads/actor.ts', 'src/main/threads/subagent.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  dts: false,
  clean: false,
  deps: { alwaysBundle: [/^[^.]/] },
  plugins: [
    {
      name: 'licences',
      // What is bundled is shipped: its licences go with it.
      generateBundle(_options, bundle) {
        const folders = new Set<string>();
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== 'chunk') continue;
          for (const id of Object.keys(chunk.modules)) {
            const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
            if (folder !== undefined) folders.add(folder);
          }
        }
        const texts = [...folders].toSorted().map((folder) => {
          const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
          const name = folder.slice(folder.lastIndexOf('node_modules/') + 13);
          const path = join(folder, file ?? 'package.json');
          return `# ${name}\n\n${existsSync(path) ? readFileSync(path, 'utf8').trim() : ''}\n`;
        });
        this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n') });
      },
    },
  ],
};

export default config;
