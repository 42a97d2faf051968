import { GroupFieldView, RatingFieldView, SelectFieldView } from "./choice_fields";
import { DateFieldView } from "./date_field";
import { HiddenFieldView, ParagraphView, SectionView } from "./display_fields";
import type { FieldContext, FieldView } from "./field_view";
import { FileFieldView } from "./file_field";
import type { FieldType, FormField } from "./form_types";
import { CheckboxFieldView, SliderFieldView, TextFieldView } from "./input_fields";
import { SignatureFieldView } from "./signature_field";

type FieldViewClass = new (field: FormField, id: string, context: FieldContext) => FieldView;

const VIEWS: Record<FieldType, FieldViewClass> = {
  text: TextFieldView,
  textarea: TextFieldView,
  email: TextFieldView,
  phone: TextFieldView,
  url: TextFieldView,
  number: TextFieldView,
  select: SelectFieldView,
  multi_select: GroupFieldView,
  checkbox_group: GroupFieldView,
  radio: GroupFieldView,
  rating: RatingFieldView,
  checkbox: CheckboxFieldView,
  date: DateFieldView,
  datetime: DateFieldView,
  file: FileFieldView,
  hidden: HiddenFieldView,
  section: SectionView,
  paragraph: ParagraphView,
  signature: SignatureFieldView,
  slider: SliderFieldView,
};

export const createFieldView = (field: FormField, id: string, context: FieldContext): FieldView =>
  new VIEWS[field.type](field, id, context);
