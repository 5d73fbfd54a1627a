import type { Command } from 'commander';
import { type LocalSession, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { HOST_OPTION } from './host-option.ts';
import { addressOf, type HostOption } from './session.ts';

const json = (value: object): string => JSON.stringify(value, null, 2);

/** Settings that give each program the address of an MCP server; they log in by themselves, in a browser. */
const PROGRAMS: Readonly<Record<string, { where: string; config: (url: string) => string }>> = {
  'claude-code': { where: 'run', config: (url) => `claude mcp add --transport http pipeline ${url}` },
  codex: { where: '~/.codex/config.toml', config: (url) => `[mcp_servers.pipeline]\nurl = "${url}"` },
  cursor: { where: '~/.cursor/mcp.json', config: (url) => json({ mcpServers: { pipeline: { url } } }) },
  gemini: { where: '~/.gemini/settings.json', config: (url) => json({ mcpServers: { pipeline: { httpUrl: url } } }) },
  vscode: {
    where: '.vscode/mcp.json',
    config: (url) => json({ servers: { pipeline: { type: 'http', url } } }),
  },
};

/** Adds the command that prints the configuration for programs that speak MCP. */
export function mcpCommand(program: Command, run: Run<LocalSession>): void {
  const names = Object.keys(PROGRAMS);
  leaf<HostOption, LocalSession>(program, run, {
    usage: 'mcp [program]',
    description: `print the configuration that connects a program to the MCP endpoint: ${names.join(', ')} (default: all)`,
    writes: false,
    options: [HOST_OPTION],
    async action({ env }, [name = ''], options) {
      if (name !== '' && !names.includes(name))
        throw new UsageError(`the program must be one of ${names.join(', ')}, got "${name.slice(0, 100)}"`);
      const url = `${await addressOf(options, env)}/api/mcp`;
      const chosen = Object.entries(PROGRAMS).filter(([one]) => name === '' || one === name);
      const programs = chosen.map(([one, { where, config }]) => ({ program: one, where, config: config(url) }));
      const text = programs.map((one) => `# ${one.program}: ${one.where}\n${one.config}`).join('\n\n');
      return { data: { url, programs }, text };
    },
  });
}
