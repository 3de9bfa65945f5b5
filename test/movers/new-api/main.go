// Makes a database with new-api's own code: its tables, and the rows of standard input through its structs. Where the
// database is, is said as new-api is told: SQLITE_PATH, or SQL_DSN.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/QuantumNous/new-api/common"
	"github.com/QuantumNous/new-api/model"
)

var given struct {
	Users       []model.User       `json:"users"`
	Tokens      []model.Token      `json:"tokens"`
	Channels    []model.Channel    `json:"channels"`
	Options     []model.Option     `json:"options"`
	Redemptions []model.Redemption `json:"redemptions"`
}

func main() {
	must(json.NewDecoder(os.Stdin).Decode(&given))
	if path := os.Getenv("SQLITE_PATH"); path != "" {
		common.SQLitePath = path
	}
	common.IsMasterNode = true
	must(model.InitDB())
	must(model.DB.Create(&given.Users).Error)
	must(model.DB.Create(&given.Tokens).Error)
	for i := range given.Channels {
		must(given.Channels[i].Insert())
	}
	must(model.DB.Create(&given.Options).Error)
	must(model.DB.Create(&given.Redemptions).Error)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
