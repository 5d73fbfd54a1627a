#!/usr/bin/env node
import { diffCommand } from './diff/diff-command.ts';

// Without a subcommand the suites run.
if (process.argv[2] === 'diff') await diffCommand().parseAsync(process.argv.slice(3), { from: 'user' });
else await import('./main.ts');
