#!/usr/bin/env node
import { diffCommand } from './diff/diff-command.ts';
import { EXIT, UsageCommand } from './options.ts';

// Without a subcommand the suites run.
if (process.argv[2] === 'diff')
  await diffCommand(new UsageCommand('pipeline-contract diff'), EXIT).parseAsync(process.argv.slice(3), {
    from: 'user',
  });
else await import('./main.ts');
