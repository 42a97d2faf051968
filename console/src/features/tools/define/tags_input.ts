import { TagsField } from "../../../shared/tags_field";

// A chunk of its own: few schemas have lists.
export default TagsField;
