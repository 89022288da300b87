import type { UserConfig } from 'tsdown';

// `unbundle` keeps one output file per source file, so that a command loads only what it needs. What threads
// are started from is bundled besides (`tsdown.threads.config.ts`); tests start parts of it by file.
const config: UserConfig = {
  entry: ['src/index.ts', 'src/main/*.ts', 'src/main/threads/*.ts', 'src/testing/index.ts'],
  format: 'esm',
  platform: 'node',
  target: 'node20',
  unbundle: true,
  fixedExtension: false,
  dts: true,
  clean: true,
};

export default config;
