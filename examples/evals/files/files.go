package files

import (
	"os"
	"path/filepath"
)

// Read returns a file of the folder that users may read.
func Read(folder, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(folder, name))
}
