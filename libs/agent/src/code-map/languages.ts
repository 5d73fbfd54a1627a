const BY_EXTENSION: Readonly<Record<string, string>> = {
  c: 'C',
  cc: 'C++',
  cpp: 'C++',
  cs: 'C#',
  css: 'CSS',
  cts: 'TypeScript',
  go: 'Go',
  h: 'C',
  html: 'HTML',
  java: 'Java',
  js: 'JavaScript',
  json: 'JSON',
  jsx: 'JavaScript',
  kt: 'Kotlin',
  markdown: 'Markdown',
  md: 'Markdown',
  mjs: 'JavaScript',
  mts: 'TypeScript',
  php: 'PHP',
  py: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  sh: 'Shell',
  sql: 'SQL',
  svg: 'SVG',
  toml: 'TOML',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  yaml: 'YAML',
  yml: 'YAML',
};

const BY_NAME: Readonly<Record<string, string>> = { dockerfile: 'Dockerfile', makefile: 'Makefile' };

/** The language of a file by its name; null for an unknown name. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const extension = /\.([^.]+)$/.exec(name)?.[1];
  return BY_NAME[name] ?? (extension === undefined ? null : (BY_EXTENSION[extension] ?? null));
}
