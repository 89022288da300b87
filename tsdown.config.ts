import type { UserConfig } from 'tsdown';

// `unbundle` keeps one output file per source file, so that dist/main/threads/*.js have the stable
// paths that `main` hands to Worker and Piscina.
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
