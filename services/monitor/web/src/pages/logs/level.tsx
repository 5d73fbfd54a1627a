import layout from '@pipeline/web/page/layout.module.css';

const LOOKS: Readonly<Record<string, string | undefined>> = {
  debug: layout.muted,
  warn: layout.warning,
  error: layout.danger,
  fatal: layout.danger,
};

/** The level of a log entry, in its word. */
export function Level({ level }: { level: string }) {
  return <span className={LOOKS[level]}>{level}</span>;
}
