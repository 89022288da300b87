/** The room `platform` as one file that plain Node can import: for tests with processes of their own. */
import { join, resolve } from 'node:path';
import { build } from 'vite';

/** Returns the file's path. */
export async function bundlePlatform(folder: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: resolve('src/platform/index.ts'), outDir: folder, emptyOutDir: false },
  });
  return join(folder, 'index.js');
}
