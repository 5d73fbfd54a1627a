/** Returns the path of a line that is interrupted where there is no value. */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let isDrawing = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${round(x(index))} ${round(y(value))}`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;
