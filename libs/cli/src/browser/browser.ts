import { spawn } from 'node:child_process';

const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the browser of the desktop, if there is one; the caller shows the address in any case. */
export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, url], { env: { ...env }, stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
