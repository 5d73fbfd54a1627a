import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/input.ts';
import { table } from '../command/table.ts';

interface Usd {
  input: string;
  output: string;
  cacheRead?: string;
  cacheWrite?: string;
}

export function modelPriceCommands(admin: Command, run: Run): void {
  const price = group(admin, 'price', 'what models cost, for calls that name no cost of their own');
  leaf(price, run, {
    usage: 'list',
    description: 'list the prices, USD per million tokens; the longest pattern that fits the name of a model holds',
    writes: false,
    async deed({ use, admin }) {
      const data = await use.listModelPrices(admin);
      const rows = data.map((one) => [one.pattern, one.inputUsd, one.outputUsd, one.cacheReadUsd, one.cacheWriteUsd]);
      return { data, text: table(['PATTERN', 'INPUT', 'OUTPUT', 'CACHE READ', 'CACHE WRITE'], rows, 'no prices') };
    },
  });
  leaf<Usd>(price, run, {
    usage: 'set <pattern>',
    description: 'set a price; a pattern is the name of a model, or its beginning followed by *',
    writes: true,
    options: [
      ['--input <usd>', 'needed: USD for a million tokens that go in'],
      ['--output <usd>', 'needed: USD for a million tokens that come out'],
      ['--cache-read <usd>', 'USD for a million tokens read from the cache (default: as --input)'],
      ['--cache-write <usd>', 'USD for a million tokens written to the cache (default: as --input)'],
    ],
    async deed({ use, admin }, [pattern = ''], { input, output, cacheRead = input, cacheWrite = input }) {
      const usd = {
        inputUsd: usdOf('--input', input),
        outputUsd: usdOf('--output', output),
        cacheReadUsd: usdOf('--cache-read', cacheRead),
        cacheWriteUsd: usdOf('--cache-write', cacheWrite),
      };
      const data = await use.setModelPrice(admin, { pattern, ...usd });
      return { data, text: `${data.pattern} is set; it holds for calls reported from now on` };
    },
  });
  leaf(price, run, {
    usage: 'remove <pattern>',
    description: 'take a price away; the next longest pattern that fits holds then',
    writes: true,
    async deed({ use, admin }, [pattern = '']) {
      const data = await use.removeModelPrice(admin, pattern);
      return { data, text: `${data.removed} is removed` };
    },
  });
}

/** @throws UsageError. */
function usdOf(option: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`${option} must be a number of US dollars, not ${text}`);
  return Number(text);
}
