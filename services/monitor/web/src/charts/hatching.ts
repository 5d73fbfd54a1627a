const SIZE = 8;

/** Returns a pattern that distinguishes layers without colour: direction and distance of the lines differ by index. */
export function hatching(
  context: CanvasRenderingContext2D,
  index: number,
  line: string,
  background: string,
): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = SIZE;
  tile.height = SIZE;
  const pen = tile.getContext('2d');
  if (!pen) return background;
  pen.fillStyle = background;
  pen.fillRect(0, 0, SIZE, SIZE);
  pen.strokeStyle = line;
  pen.lineWidth = 0.5 + (index % 3) * 0.5;
  pen.beginPath();
  const direction = index % 4;
  if (direction === 0 || direction === 3) stroke(pen, [0, SIZE, SIZE, 0]);
  if (direction === 1 || direction === 3) stroke(pen, [0, 0, SIZE, SIZE]);
  if (direction === 2) stroke(pen, [0, SIZE / 2, SIZE, SIZE / 2]);
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? background;
}

function stroke(pen: CanvasRenderingContext2D, [x1, y1, x2, y2]: readonly [number, number, number, number]): void {
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
}
