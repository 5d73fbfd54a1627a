import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField, type TextFieldProps } from 'react-aria-components/TextField';
import { withoutRepeat } from './held-enter.ts';
import styles from './text-field.module.css';

interface Props extends Omit<TextFieldProps, 'className' | 'style' | 'children'> {
  label: string;
  hint?: string;
  /** Rows of a text of several lines; default: one line. */
  rows?: number;
  placeholder?: string;
}

/** A labelled text input. */
export function TextField({ label, hint, rows, placeholder, ...props }: Props) {
  return (
    <AriaTextField {...props} className={styles.field}>
      <Label className={styles.label}>{label}</Label>
      {rows === undefined ? (
        <Input className={styles.input} placeholder={placeholder} onKeyDown={withoutRepeat} />
      ) : (
        <TextArea className={styles.input} rows={rows} placeholder={placeholder} />
      )}
      {hint && (
        <Text slot="description" className={styles.hint}>
          {hint}
        </Text>
      )}
      <FieldError className={styles.error} />
    </AriaTextField>
  );
}
