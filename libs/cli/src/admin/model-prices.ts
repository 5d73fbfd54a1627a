import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { table } from '../command/table.ts';

interface Usd {
  input: string;
  output: string;
  cacheRead?: string;
  cacheWrite?: string;
}

export function modelPriceCommands(admin: Command, run: Run): void {
  const price = group(admin, 'price', 'model prices, for invocations reported without a cost');
  leaf(price, run, {
    usage: 'list',
    description: 'list prices in USD per million tokens; the longest matching pattern applies',
    writes: false,
    async action({ use, admin }) {
      const data = await use.listModelPrices(admin);
      const rows = data.map((one) => [one.pattern, one.inputUsd, one.outputUsd, one.cacheReadUsd, one.cacheWriteUsd]);
      return { data, text: table(['PATTERN', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE'], rows, 'no prices') };
    },
  });
  leaf<Usd>(price, run, {
    usage: 'set <pattern>',
    description: 'set a price; a pattern is a model name, or a prefix followed by *',
    writes: true,
    options: [
      ['--input <usd>', 'needed: USD per million input tokens'],
      ['--output <usd>', 'needed: USD per million output tokens'],
      ['--cache-read <usd>', 'USD per million cache read tokens (default: as --input)'],
      ['--cache-write <usd>', 'USD per million cache write tokens (default: as --input)'],
    ],
    async action({ use, admin }, [pattern = ''], { input, output, cacheRead = input, cacheWrite = input }) {
      const usd = {
        inputUsd: usdOf('--input', input),
        outputUsd: usdOf('--output', output),
        cacheReadUsd: usdOf('--cache-read', cacheRead),
        cacheWriteUsd: usdOf('--cache-write', cacheWrite),
      };
      const data = await use.setModelPrice(admin, { pattern, ...usd });
      return { data, text: `${data.pattern} set; it applies to invocations reported from now on` };
    },
  });
  leaf(price, run, {
    usage: 'remove <pattern>',
    description: 'remove a price; the next longest matching pattern then applies',
    writes: true,
    async action({ use, admin }, [pattern = '']) {
      const data = await use.removeModelPrice(admin, pattern);
      return { data, text: `${data.removed} removed` };
    },
  });
}

/** @throws UsageError. */
function usdOf(option: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${option} must be a number of US dollars, not ${text}`);
  return Number(text);
}
