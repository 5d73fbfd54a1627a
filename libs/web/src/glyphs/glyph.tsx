import styles from './glyph.module.css';
import { GLYPHS, type GlyphName, type GlyphShape } from './glyph-paths.ts';

interface GlyphProps {
  name: GlyphName;
  size?: number;
  /** Custom property of its colour; default: the text colour. */
  colour?: string;
}

/** A decorative icon: the word beside it carries the meaning. */
export function Glyph({ name, size = 16, colour }: GlyphProps) {
  const shape: GlyphShape = GLYPHS[name];
  return (
    <svg
      aria-hidden="true"
      className={styles.glyph}
      height={size}
      style={colour ? { color: `var(${colour})` } : undefined}
      viewBox="0 0 16 16"
      width={size}
    >
      {shape.fill && <path className={styles.fill} d={shape.fill} />}
      {shape.stroke && <path className={styles.stroke} d={shape.stroke} />}
    </svg>
  );
}
